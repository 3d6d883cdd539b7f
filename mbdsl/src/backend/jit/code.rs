//! Memory of native code, and calls into it: the only place of this package with `unsafe`.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::rc::Rc;

use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module as _, default_libcall_names};

use super::NoCode;
use super::needs::Needs;
use super::translate::{self, Functions};
use crate::backend::inputs::{Inputs, SOURCES, Source};
use crate::ir::Kernel;

/// What native code is given: where the parts of [`Inputs`] begin. It holds them as long as they are borrowed.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Args<'i> {
    state: *const f64,
    slots: *const u32,
    memory: *const f64,
    cells: *const u32,
    time: f64,
    slices: [*const f64; SOURCES.len()],
    inputs: PhantomData<Inputs<'i>>,
}

/// Native code finds a slice by the number of its source.
const _: () = {
    let mut k = 0;
    while k < SOURCES.len() {
        assert!(SOURCES[k] as usize == k, "sources are in the order of their numbers");
        k += 1;
    }
};

impl<'i> Args<'i> {
    /// Where native code finds the fields, in bytes.
    pub(super) const STATE: i32 = offset_of!(Self, state) as i32;
    pub(super) const SLOTS: i32 = offset_of!(Self, slots) as i32;
    pub(super) const MEMORY: i32 = offset_of!(Self, memory) as i32;
    pub(super) const CELLS: i32 = offset_of!(Self, cells) as i32;
    pub(super) const TIME: i32 = offset_of!(Self, time) as i32;

    pub(super) const fn slice(source: Source) -> i32 {
        (offset_of!(Self, slices) + size_of::<*const f64>() * source as usize) as i32
    }

    /// All but the slices.
    #[inline]
    pub(super) fn new(inputs: &Inputs<'i>) -> Self {
        Self {
            state: inputs.state.as_ptr(),
            slots: inputs.slots.as_ptr(),
            memory: inputs.memory.as_ptr(),
            cells: inputs.cells.as_ptr(),
            time: inputs.time,
            slices: [std::ptr::null(); SOURCES.len()],
            inputs: PhantomData,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, source: Source, slice: &'i [f64]) {
        self.slices[source as usize] = slice.as_ptr();
    }
}

/// The memory that compiled kernels of one run live in.
pub struct Code {
    /// `None` only while it is dropped.
    inner: RefCell<Option<Inner>>,
}

struct Inner {
    module: JITModule,
    context: cranelift_codegen::Context,
    frontend: FunctionBuilderContext,
    functions: Functions,
}

/// A compiled kernel, what it needs to be called, and the memory that it is in.
#[derive(Debug)]
pub(super) struct Entry {
    address: *const u8,
    needs: Needs,
    /// Keeps the code alive.
    _code: Rc<Code>,
}

impl Code {
    /// Memory without any code, for the processor that this program runs on.
    ///
    /// # Errors
    /// If Cranelift has no code generator for it.
    pub fn new() -> Result<Self, NoCode> {
        // A kernel is one block of arithmetic: what optimisation finds in it is not worth its time.
        let mut flags = settings::builder();
        for (name, value) in
            [("opt_level", "none"), ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })]
        {
            flags.set(name, value).map_err(refused)?;
        }
        let isa = cranelift_native::builder().map_err(refused)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(refused)?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        translate::define(&mut builder);
        let mut module = JITModule::new(builder);
        let functions = Functions::declare(&mut module)?;
        let context = module.make_context();
        let inner = Inner { module, context, frontend: FunctionBuilderContext::new(), functions };
        Ok(Self { inner: RefCell::new(Some(inner)) })
    }

    pub(super) fn compile(code: &Rc<Self>, kernel: &Kernel) -> Result<Entry, NoCode> {
        let mut guard = code.inner.borrow_mut();
        let Some(Inner { module, context, frontend, functions }) = &mut *guard else {
            unreachable!("nobody compiles into code that is being dropped");
        };
        let mut finished = || -> Result<*const u8, NoCode> {
            translate::translate(kernel, module, functions, context, frontend);
            let id = module.declare_anonymous_function(&context.func.signature).map_err(refused)?;
            module.define_function(id, context).map_err(refused)?;
            module.finalize_definitions().map_err(refused)?;
            Ok(module.get_finalized_function(id))
        };
        let address = finished();
        module.clear_context(context);
        Ok(Entry { address: address?, needs: Needs::of(kernel), _code: Rc::clone(code) })
    }
}

pub(super) fn refused(e: impl fmt::Display) -> NoCode {
    NoCode { reason: e.to_string() }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "memory of compiled code is freed by hand")]
impl Drop for Code {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.get_mut().take() {
            // SAFETY: entries hold this code; that it is dropped says that none is left, and none is being called.
            unsafe { inner.module.free_memory() };
        }
    }
}

impl Entry {
    /// Calls the code.
    ///
    /// # Panics
    /// If a slice of the inputs, or `out`, is too short for it.
    #[expect(unsafe_code, reason = "compiled code is called by its address")]
    #[inline]
    pub(super) fn call(&self, inputs: &Inputs<'_>, out: &mut [f64]) {
        type Compiled = unsafe extern "C" fn(*const Args<'_>, *mut f64);
        let args = self.needs.of_these(inputs, out);
        // SAFETY: the address is that of a function which `translate` gave this signature, and the memory of its code is held.
        let compiled = unsafe { std::mem::transmute::<*const u8, Compiled>(self.address) };
        // SAFETY: it reads the places behind `args`, which are borrowed, and writes the places of `out`, as far as the needs of its kernel
        // go, which both have just been found to meet.
        unsafe { compiled(&raw const args, out.as_mut_ptr()) };
    }
}
