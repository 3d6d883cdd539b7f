//! A family as a module: its constants, computed when the model is made, and its kernels as methods.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::kernel::{self, Access, Destination, Head, mentioned};
use super::names::ident;
use super::table;
use crate::ir::VerifiedKernel;
use crate::ir::program::{BodyFamily, Family, Program};

/// What all modules need to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// The model.
    pub program: &'a Program,
    /// Most statements of a function.
    pub limit: usize,
}

/// A family on its way to a module.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    context: Context<'a>,
    family: &'a Family,
    /// Whether there is exactly one instance, so that nothing is looked up.
    pub is_single: bool,
    /// Whether instances are found during a run: their lists start empty.
    is_found: bool,
    access: Access,
    /// The methods.
    code: TokenStream,
    /// What the methods say beside the expressions of kernels.
    frame: TokenStream,
    /// Functions of parameters.
    constants: TokenStream,
    /// What else is fixed at the start, as statements.
    starts: Vec<TokenStream>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(context: Context<'a>, family: &'a Family) -> Self {
        let is_single = family.interface.indices == 0;
        let i = &family.interface;
        let place = |list: &str, values: &[u32], k: usize| {
            if is_single {
                let value = Literal::u32_unsuffixed(values[k]);
                return quote!(#value);
            }
            let (list, k) = (ident(list), Literal::usize_unsuffixed(k));
            quote!(self.#list[k][#k])
        };
        let instance = |list: &str| {
            let list = ident(list);
            if is_single { quote!(&self.#list) } else { quote!(&self.#list[k]) }
        };
        let table = &family.table;
        let access = Access {
            slots: slot_names(context.program, family),
            bodies: (0..i.slots).map(|k| place("bodies", &table.slots, k)).collect(),
            own: instance("own"),
            shared: quote!(&self.shared),
            start: instance("start"),
            lambda: TokenStream::new(),
            recorded: instance("recorded"),
            index: instance("index"),
            cells: (0..i.memories).map(|k| place("cells", &table.cells, k)).collect(),
            multipliers: (0..i.multipliers).map(|k| place("rows", &table.multipliers, k)).collect(),
        };
        Self {
            context,
            family,
            is_single,
            is_found: false,
            access,
            code: TokenStream::new(),
            frame: TokenStream::new(),
            constants: TokenStream::new(),
            starts: Vec::new(),
        }
    }

    /// For pairs of bodies of two declarations that are found during a run.
    pub(super) fn of_pairs(context: Context<'a>, family: &'a Family, bodies: &[&BodyFamily; 2]) -> Self {
        let mut writer = Self::new(context, family);
        writer.is_found = true;
        writer.access.slots = with_letters(&bodies.map(|body| body.setup.family.name.as_str()));
        writer
    }

    /// Adds a kernel as a function of parameters and the index values of an instance, to an array.
    pub(super) fn constant_of_index(&mut self, name: &str, docs: &str, kernel: &VerifiedKernel) {
        let (size, params) = (kernel.get().size, Literal::usize_unsuffixed(self.context.program.param_len()));
        let (len, indices) =
            (Literal::usize_unsuffixed(size), Literal::usize_unsuffixed(self.family.interface.indices));
        let head = Head {
            name: name.to_owned(),
            docs: docs.to_owned(),
            inputs: vec![(ident("params"), quote!(&[f64; #params])), (ident("index"), quote!(&[f64; #indices]))],
            result: Some(quote!([f64; #len])),
            ..Head::default()
        };
        let all = [Destination::Array(0..size)];
        self.constants.extend(kernel::function(&head, kernel, &Access::default(), &all, self.context.limit).code);
    }

    /// Adds a statement for when what is fixed at the start is computed.
    pub(super) fn at_start(&mut self, statement: TokenStream) {
        self.starts.push(statement);
    }

    /// Parameters of a method before those that are its own.
    fn place(&self) -> Vec<(Ident, TokenStream)> {
        let mut out = Vec::new();
        if !self.is_single {
            out.push((ident("k"), quote!(usize)));
        }
        out.push((ident("at"), quote!(&rt::Point<'_>)));
        out
    }

    /// The instance in calls from outside: nothing for a single one, which has no `k`.
    pub(super) fn instance(&self) -> TokenStream {
        if self.is_single { TokenStream::new() } else { quote!(k,) }
    }

    /// Adds a kernel as a method that takes an instance, a point, and the given parameters.
    pub(super) fn method(
        &mut self,
        kernel: &VerifiedKernel,
        head: Head,
        lambda: Option<TokenStream>,
        destinations: &[Destination],
    ) {
        let mut inputs = self.place();
        inputs.extend(head.inputs);
        let head = Head { has_self: true, inputs, ..head };
        let access = Access { lambda: lambda.unwrap_or_default(), ..self.access.clone() };
        let function = kernel::function(&head, kernel, &access, destinations, self.context.limit);
        self.code.extend(function.code);
        self.frame.extend(function.frame);
    }

    /// Adds other code to the methods.
    pub(super) fn code(&mut self, code: TokenStream) {
        self.frame.extend(code.clone());
        self.code.extend(code);
    }

    /// Adds what tells the bodies of each instance.
    pub(super) fn bodies(&mut self) {
        let width = self.family.interface.slots;
        let rows = if self.is_single {
            let bodies = self.family.table.slots.iter().map(|&b| Literal::u32_unsuffixed(b));
            quote!(rt::vec![[#(#bodies),*]])
        } else {
            self.table(quote!(table), &self.family.table.slots, width)
        };
        let width = Literal::usize_unsuffixed(width);
        self.code(quote! {
            /// Bodies of each instance, slot by slot.
            pub(super) fn bodies() -> rt::Vec<[u32; #width]> { #rows }
        });
    }

    fn table<T: Copy + Into<i64>>(&self, reader: TokenStream, values: &[T], width: usize) -> TokenStream {
        let columns = (0..width).map(|k| table::runs(values, width, k));
        quote!(rt::#reader(COUNT, [#(#columns),*]))
    }

    /// The module: nested modules, more fields of the data with their values, and everything that was added.
    pub(super) fn finish(
        mut self,
        module: &Ident,
        docs: &[String],
        nested: &TokenStream,
        more: &[Field],
    ) -> TokenStream {
        let i = &self.family.interface;
        let (has_start, has_index) = (i.starts > 0, !self.is_single && i.indices > 0);
        let params = Literal::usize_unsuffixed(self.context.program.param_len());
        if has_start {
            self.start();
        }
        let starts = std::mem::take(&mut self.starts);
        if !starts.is_empty() {
            self.code(quote! {
                /// Computes what is fixed at the start.
                pub(super) fn set_start(&mut self, at: &rt::Point<'_>) { #(#starts)* }
            });
        }
        let used_by_methods = mentioned(&self.frame, &["shared", "own", "index", "rt"]);
        let used = |name: &str| used_by_methods.contains(&name);
        let mut fields: Vec<Field> = Vec::new();
        let mut prepare = TokenStream::new();
        let mut constants = std::mem::take(&mut self.constants);
        let parameters = vec![(ident("params"), quote!(&[f64; #params]))];
        if i.uniforms > 0 && used("shared") {
            let len = Literal::usize_unsuffixed(i.uniforms);
            let head = Head {
                name: "shared_of".to_owned(),
                docs: "Constants that all instances share".to_owned(),
                inputs: parameters.clone(),
                result: Some(quote!([f64; #len])),
                ..Head::default()
            };
            let all = [Destination::Array(0..i.uniforms)];
            let access = Access::default();
            constants.extend(kernel::function(&head, &self.family.uniforms, &access, &all, self.context.limit).code);
            fields.push(Field {
                name: ident("shared"),
                ty: quote!([f64; #len]),
                value: quote!(Self::shared_of(params)),
            });
        }
        let per_instance = |len: usize| {
            let len = Literal::usize_unsuffixed(len);
            if self.is_single { quote!([f64; #len]) } else { quote!(rt::Vec<[f64; #len]>) }
        };
        let needs_own = i.columns > 0 && used("own");
        if has_index && !self.is_found && (needs_own || used("index")) {
            let values = self.table(quote!(indices), &self.family.table.indices, i.indices);
            prepare.extend(quote!(let index = #values;));
        }
        if needs_own {
            let len = Literal::usize_unsuffixed(i.columns);
            let mut inputs = parameters;
            let mut value = quote!(Self::own_of(params));
            if has_index {
                let len = Literal::usize_unsuffixed(i.indices);
                inputs.push((ident("index"), quote!(&[f64; #len])));
                value = quote!(index.iter().map(|index| Self::own_of(params, index)).collect());
            }
            if self.is_found {
                value = quote!(rt::Vec::new());
            }
            let head = Head {
                name: "own_of".to_owned(),
                docs: "Constants of an instance".to_owned(),
                inputs,
                result: Some(quote!([f64; #len])),
                ..Head::default()
            };
            let all = [Destination::Array(0..i.columns)];
            let access = Access::default();
            constants.extend(kernel::function(&head, &self.family.columns, &access, &all, self.context.limit).code);
            fields.push(Field { name: ident("own"), ty: per_instance(i.columns), value });
        }
        if has_start {
            let len = Literal::usize_unsuffixed(i.starts);
            let value = if self.is_single { quote!([0.0; #len]) } else { quote!(rt::vec![[0.0; #len]; COUNT]) };
            fields.push(Field { name: ident("start"), ty: per_instance(i.starts), value });
        }
        if !self.is_single {
            if used("index") {
                let value = if self.is_found { quote!(rt::Vec::new()) } else { quote!(index) };
                fields.push(Field { name: ident("index"), ty: per_instance(i.indices), value });
            }
            let tables = [
                ("bodies", &self.family.table.slots, i.slots),
                ("cells", &self.family.table.cells, i.memories),
                ("rows", &self.family.table.multipliers, i.multipliers),
            ];
            for (name, values, width) in tables {
                // `bodies()` alone does not need the field.
                if width > 0 && field_is_read(&self.frame, name) {
                    let len = Literal::usize_unsuffixed(width);
                    let value =
                        if self.is_found { quote!(rt::Vec::new()) } else { self.table(quote!(table), values, width) };
                    fields.push(Field { name: ident(name), ty: quote!(rt::Vec<[u32; #len]>), value });
                }
            }
        }
        fields.extend(more.iter().cloned());

        let count = Literal::usize_unsuffixed(self.family.table.count);
        let (names, types): (Vec<_>, Vec<_>) = fields.iter().map(|f| (&f.name, &f.ty)).unzip();
        let values: Vec<_> = fields
            .iter()
            .map(
                |Field { name, value, .. }| {
                    if *name == value.to_string() { quote!(#name) } else { quote!(#name: #value) }
                },
            )
            .collect();
        let body = quote!(#prepare Self { #(#values),* });
        let used_by_body = mentioned(&body, &["params", "rt"]);
        let params_name = if used_by_body.contains(&"params") { ident("params") } else { format_ident!("_params") };
        let code = self.code;
        let data = quote! {
            impl Data {
                pub(super) fn new(#params_name: &[f64; #params]) -> Self { #body }
                #constants
                #code
            }
        };
        let count = (!self.is_single && !self.is_found).then(|| {
            quote! {
                /// Number of instances.
                pub(super) const COUNT: usize = #count;
            }
        });
        let needs_rt = used("rt")
            || used_by_body.contains(&"rt")
            || [&constants, nested].iter().any(|code| !mentioned(code, &["rt"]).is_empty());
        let import = needs_rt.then(|| {
            quote!(
                use super::rt;
            )
        });
        quote! {
            #(#[doc = #docs])*
            mod #module {
                #import
                #count
                #[derive(Clone, Debug)]
                pub(super) struct Data { #(#names: #types,)* }
                #data
                #nested
            }
        }
    }

    /// Adds what computes the constants that are fixed at the start.
    fn start(&mut self) {
        let len = self.family.interface.starts;
        let size = Literal::usize_unsuffixed(len);
        let head = Head {
            name: "start_of".to_owned(),
            docs: "Constants that are fixed at the start".to_owned(),
            result: Some(quote!([f64; #size])),
            ..Head::default()
        };
        let kernel = &self.family.starts;
        self.method(kernel, head, None, &[Destination::Array(0..len)]);
        let value = if self.is_single {
            quote!(self.start_of(at))
        } else {
            quote!((0..COUNT).map(|k| self.start_of(k, at)).collect())
        };
        self.starts.push(quote!(self.start = #value;));
    }
}

/// A field of the data of a family.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TokenStream,
    /// Its value, from `params`.
    pub value: TokenStream,
}

/// Whether `self.name` occurs in some code.
fn field_is_read(code: &TokenStream, name: &str) -> bool {
    // How tokens are spaced depends on who prints them.
    let text: String = code.to_string().split_whitespace().collect();
    text.contains(&format!("self.{name}["))
}

/// Names of the bodies in the slots, with letters where a declaration stands in more than one.
fn slot_names(program: &Program, family: &Family) -> Vec<String> {
    let count = family.interface.slots;
    if family.table.count == 0 {
        return (0..count).map(|k| format!("body{k}")).collect();
    }
    let names: Vec<&str> =
        family.slots(0).iter().map(|&b| declaration(program, b).setup.family.name.as_str()).collect();
    with_letters(&names)
}

/// Names of declarations, with letters where one stands more than once.
fn with_letters(names: &[&str]) -> Vec<String> {
    names
        .iter()
        .enumerate()
        .map(|(k, name)| {
            if names.iter().filter(|other| *other == name).count() == 1 {
                return (*name).to_owned();
            }
            let before = names[..k].iter().filter(|other| *other == name).count();
            let letter = u8::try_from(before).ok().filter(|&n| n < 26).map_or('z', |n| char::from(b'a' + n));
            format!("{name}_{letter}")
        })
        .collect()
}

/// The declaration of a body.
pub(super) fn declaration(program: &Program, body: u32) -> &BodyFamily {
    let after = program.bodies.partition_point(|b| b.first <= body as usize);
    &program.bodies[after.saturating_sub(1)]
}
