//! A program into Rust source: one module with the parameters, the model, its equations as straight-line code.
//!
//! A family becomes a module whose methods are its kernels, with a loop over its instances where there may be many;
//! how many they are occurs in tables only. Operations, their order and their functions are those of the kernels, so
//! that results agree with the interpreter to the bit.

mod checks;
mod expr;
mod family;
mod inputs;
mod kernel;
mod names;
mod pairs;
mod params;
mod probe;
mod system;
mod table;
mod unrolled;

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::ir::program::{BodyFamily, Output, Program};
use crate::ir::{Input, VerifiedKernel, count};

use family::Context;
pub use names::is_keyword;
use names::{Names, camel, ident, snake};
use system::Equations;

/// Most statements of a function: beyond, rustc needs more time than in proportion.
const MOST_STATEMENTS: usize = 1000;

/// What the text of a model says beside its equations.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Documentation of the model.
    pub docs: Vec<String>,
    /// The model in brief: what it declares, and its equations.
    pub summary: Vec<String>,
    /// Name of the stepper that the model asks for.
    pub stepper: Option<String>,
    /// Where a declaration comes from, by its name: `line 12: joint pivot: ...`.
    pub places: BTreeMap<String, String>,
    /// Documentation of bodies by name.
    pub body_docs: BTreeMap<String, Vec<String>>,
}

impl Notes {
    /// The first lines about the code of a declaration.
    fn title(&self, kind: &str, name: &str) -> Vec<String> {
        let mut docs = vec![format!(" The {kind} `{name}`.")];
        if let Some(place) = self.places.get(name) {
            docs.push(String::new());
            docs.push(format!(" {place}"));
        }
        docs
    }
}

/// How to emit a model.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the module; that of the model in snake case unless given.
    pub module: Option<String>,
    /// Most statements of a function.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { module: None, limit: MOST_STATEMENTS }
    }
}

/// A model as a module, in the parts that its visibility and the path of the runtime stand between.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its attributes, documentation among them.
    pub attributes: TokenStream,
    /// Its name.
    pub name: String,
    /// Its items, which call the runtime `rt`.
    pub items: TokenStream,
}

impl Module {
    /// The whole module, public, with the runtime as it is called unless renamed.
    #[must_use]
    pub fn into_tokens(self) -> TokenStream {
        let Self { attributes, name, items } = self;
        let name = ident(&name);
        quote! {
            #attributes
            pub mod #name {
                use ::mbdsl_runtime::generated as rt;
                #items
            }
        }
    }
}

/// Names of the module and of the struct of a model.
#[must_use]
pub fn names(model: &str, options: &Options) -> (String, String) {
    let module = Names::default().take(&options.module.clone().unwrap_or_else(|| snake(model)));
    let model = Names::reserving(&RESERVED_TYPES).take(&camel(model));
    (module.to_string(), model.to_string())
}

/// The module of a model.
#[must_use]
pub fn emit(program: &Program, notes: &Notes, options: &Options) -> Module {
    let context = Context { program, limit: options.limit };
    let (name, model) = names(&program.name, options);
    let mut modules = Names::reserving(&RESERVED_MODULES);
    let fields = params::fields(&program.params, &mut modules);
    let signals = params::fields(&program.inputs, &mut modules);
    let equations = system::equations(context, notes, &mut modules);
    let params = params::items(context, &fields, &model);
    let input_items = inputs::items(context, &signals, &model);
    let input_access = inputs::accessors(&signals);
    let model = ident(&model);
    let bodies = Bodies::new(context, notes, &mut modules);
    let outputs = Outputs::new(context, &mut modules);
    let bound = checks::bound(context, &mut modules);
    let watched = checks::watched(context, &model, &mut modules);

    let mut methods = Names::reserving(&RESERVED_METHODS);
    let access = [
        input_access,
        bodies.accessors(notes, &mut methods),
        equations.multipliers(&mut methods),
        outputs.accessors(context, &mut methods),
    ];
    let runs = run_defaults(context, notes, &mut modules);
    let constructor = constructor(context, &fields, &equations, &bodies, &outputs, &bound);
    let (declared, _) = equations.fields();
    let output_fields = outputs.list.iter().map(|(_, name)| quote!(#name: #name::Data,));
    let memory = (program.memory_len() > 0).then(|| quote!(memory: rt::Vec<f64>,));
    let input_field = (!signals.is_empty()).then(|| quote!(inputs: Inputs,));
    let system = equations.system(context, &model);
    let code = equations.modules();
    let (body_code, output_code, bound_code) = (&bodies.code, &outputs.code, &bound.code);
    let (run_methods, run_code) = runs;
    let docs = header(program, notes);
    let model_docs = if notes.docs.is_empty() {
        vec![format!(" The model `{}`.", program.name)]
    } else {
        notes.docs.iter().map(|line| format!(" {}", line.trim())).collect()
    };
    let count = Literal::usize_unsuffixed(program.body_count());
    let allow = ident("allow");
    let body_count = quote! {
        /// Number of bodies.
        pub const BODIES: usize = #count;
    };
    let attributes = quote! {
        #(#[doc = #docs])*
        #[#allow(
            dead_code,
            non_snake_case,
            clippy::approx_constant,
            clippy::eq_op,
            clippy::possible_missing_comma,
            reason = "written by a program: parts may be unused, names and numbers are those of the model"
        )]
    };
    let items = quote! {
        #(#[doc = #model_docs])*
        #[derive(Clone, Debug)]
        pub struct #model {
            base: rt::Base,
            params: Params,
            #input_field
            #declared
            #(#output_fields)*
            #memory
        }

        #params
        #input_items

        impl #model {
            #body_count
            #constructor
            #run_methods
            #(#access)*
        }

        #system
        #body_code
        #code
        #output_code
        #bound_code
        #watched
        #run_code
    };
    Module { attributes, name, items }
}

/// Types of every model, and those that generated code names without a path.
const RESERVED_TYPES: [&str; 7] = ["Params", "Inputs", "CheckData", "Data", "Option", "Result", "Default"];

/// Modules and fields of every model, crates, and types of Rust, which a module would hide.
const RESERVED_MODULES: [&str; 13] =
    ["rt", "base", "memory", "params", "inputs", "core", "std", "f64", "u32", "i64", "usize", "bool", "str"];

/// Methods of every model; what the user names gives way.
const RESERVED_METHODS: [&str; 12] = [
    "new",
    "params",
    "inputs",
    "inputs_mut",
    "guess",
    "assemble",
    "set_start",
    "topology",
    "stepper",
    "plan",
    "every",
    "clone",
];

/// The lines before the module: model, version, and what an evaluation costs.
fn header(program: &Program, notes: &Notes) -> Vec<String> {
    let mut docs: Vec<String> = notes.docs.iter().map(|line| format!(" {}", line.trim())).collect();
    if !docs.is_empty() {
        docs.push(String::new());
    }
    docs.extend([
        format!(" The model `{}` as Rust code, written by mbdsl {}.", program.name, env!("CARGO_PKG_VERSION")),
        String::new(),
    ]);
    if !notes.summary.is_empty() {
        docs.push(" ```text".to_owned());
        docs.extend(notes.summary.iter().map(|line| format!(" {line}")));
        docs.extend([" ```".to_owned(), String::new()]);
    }
    docs.push(" Operations of the kernels that Newton's method calls, per instance:".to_owned());
    docs.push(String::new());
    let mut line = |name: &str, instances: usize, kernel: &VerifiedKernel| {
        let times = if instances == 1 { String::new() } else { format!(" ({instances} instances)") };
        docs.push(format!(" - `{name}`{times}: {}", count(kernel.get())));
    };
    program.constraints.iter().for_each(|c| line(&c.family.name, c.family.table.count, &c.newton));
    program.forces.iter().for_each(|f| line(&f.family.name, f.family.table.count, &f.newton));
    for p in &program.pairs {
        docs.push(format!(
            " - `{}`, a pair that is near, without derivatives: {}",
            p.family.name,
            count(p.force.get())
        ));
    }
    docs
}

/// The bodies of a model: modules that compute their numbers.
struct Bodies<'a> {
    list: Vec<(&'a BodyFamily, Ident)>,
    code: TokenStream,
}

impl<'a> Bodies<'a> {
    fn new(context: Context<'a>, notes: &Notes, names: &mut Names) -> Self {
        let (mut list, mut code) = (Vec::new(), TokenStream::new());
        for body in &context.program.bodies {
            let name = names.take_snake(&body.setup.family.name);
            let kind = if body.is_rigid { "body" } else { "particle" };
            let docs = notes.title(kind, &body.setup.family.name);
            code.extend(probe::module(context, &body.setup, &name, &docs));
            list.push((body, name));
        }
        Self { list, code }
    }

    /// Statements that give the bodies to a builder.
    fn build(&self) -> TokenStream {
        let mut out = TokenStream::new();
        for (body, module) in &self.list {
            let kind = ident(if body.is_rigid { "Rigid" } else { "Particle" });
            let has_rotation = body.given[1];
            let name = system::instance_name(&body.setup.family);
            let place = |k: TokenStream| {
                quote! {
                    let numbers = setup.evaluate(#k &rt::Point::NONE);
                    builder.body(rt::BodyKind::#kind, #has_rotation, &numbers, || #name);
                }
            };
            let all = if body.setup.family.interface.indices == 0 {
                place(TokenStream::new())
            } else {
                let place = place(quote!(k,));
                quote!(for k in 0..#module::COUNT { #place })
            };
            out.extend(quote! {
                let setup = #module::Data::new(&scalars);
                #all
            });
        }
        out
    }

    /// Access to the bodies by name.
    fn accessors(&self, notes: &Notes, names: &mut Names) -> TokenStream {
        let mut out = TokenStream::new();
        for (body, _) in &self.list {
            let family = &body.setup.family;
            let method = names.take_snake(&family.name);
            let is_single = family.interface.indices == 0;
            let number = table::offset(body.first, 1, is_single);
            let parameter = (!is_single).then(|| quote!(, k: usize));
            let mut docs: Vec<String> = Vec::new();
            for line in notes.body_docs.get(&family.name).into_iter().flatten() {
                docs.push(format!(" {}", line.trim()));
            }
            if !docs.is_empty() {
                docs.push(String::new());
            }
            let which = if is_single { "Reference frame of the body" } else { "Reference frame of instance `k` of" };
            docs.push(format!(" {which} `{}`.", family.name));
            let bound = (!is_single).then(|| {
                let count = Literal::usize_unsuffixed(family.table.count);
                quote!(assert!(k < #count, "no such body");)
            });
            out.extend(quote! {
                #(#[doc = #docs])*
                #[must_use]
                pub fn #method(&self, s: &rt::State #parameter) -> rt::Frame {
                    #bound
                    self.base.frame(s, #number)
                }
            });
        }
        out
    }
}

/// The outputs of a model.
struct Outputs<'a> {
    list: Vec<(&'a Output, Ident)>,
    code: TokenStream,
}

impl<'a> Outputs<'a> {
    fn new(context: Context<'a>, names: &mut Names) -> Self {
        let (mut list, mut code) = (Vec::new(), TokenStream::new());
        for output in &context.program.outputs {
            let name = names.take_snake(&format!("{} output", output.probe.family.name));
            let docs = [format!(" The output `{}`.", output.probe.family.name)];
            code.extend(probe::module(context, &output.probe, &name, &docs));
            list.push((output, name));
        }
        Self { list, code }
    }

    fn starts(&self) -> TokenStream {
        let names = self.list.iter().filter(|(o, _)| probe::has_start(&o.probe)).map(|(_, name)| name);
        quote!(#(self.#names.set_start(&at);)*)
    }

    fn accessors(&self, context: Context<'_>, names: &mut Names) -> TokenStream {
        let mut out = TokenStream::new();
        for (output, field) in &self.list {
            let family = &output.probe.family;
            let method = names.take_snake(&family.name);
            let is_single = family.interface.indices == 0;
            let (k, parameter) = if is_single { (None, None) } else { (Some(quote!(k,)), Some(quote!(k: usize,))) };
            let mut docs: Vec<String> = output.docs.iter().map(|line| format!(" {}", line.trim())).collect();
            if !docs.is_empty() {
                docs.push(String::new());
            }
            let unit = if output.unit.is_empty() { "1" } else { &output.unit };
            docs.push(format!(" Output `{}`, {unit}.", family.name));
            let (mut arguments, mut more) = (TokenStream::new(), TokenStream::new());
            let has_multipliers = probe::any_load(&output.probe, &|i| matches!(i, Input::Multiplier(_)));
            let has_globals = probe::any_load(&output.probe, &|i| matches!(i, Input::Global(_)));
            if has_multipliers {
                docs.push(" `lambda` are the multipliers of all constraints, as the stepper delivers them.".to_owned());
                arguments.extend(quote!(, lambda: &[f64]));
                more.extend(quote!(lambda,));
            }
            if has_globals {
                docs.push(
                    " `globals` are total, kinetic and potential energy, linear and angular momentum.".to_owned(),
                );
                arguments.extend(quote!(, globals: &[f64; 9]));
                more.extend(quote!(globals,));
            }
            let point = inputs::point(context, &quote!(s), &more);
            let (ty, value) = if output.len == 1 {
                (quote!(f64), quote!(self.#field.evaluate(#k &at)[0]))
            } else {
                let len = Literal::usize_unsuffixed(output.len);
                (quote!([f64; #len]), quote!(self.#field.evaluate(#k &at)))
            };
            out.extend(quote! {
                #(#[doc = #docs])*
                #[must_use]
                pub fn #method(&self, #parameter s: &rt::State #arguments) -> #ty {
                    #point
                    #value
                }
            });
        }
        out
    }
}

fn constructor(
    context: Context<'_>,
    fields: &[params::Field<'_>],
    equations: &Equations<'_>,
    bodies: &Bodies<'_>,
    outputs: &Outputs<'_>,
    checks: &checks::Bound,
) -> TokenStream {
    let program = context.program;
    let (count, memory) =
        (Literal::usize_unsuffixed(program.body_count()), Literal::usize_unsuffixed(program.memory_len()));
    let looks = fields.iter().map(|f| {
        let (name, range) = (f.model_name(), f.range());
        quote!(builder.param(#name, &scalars[#range]);)
    });
    let (build_bodies, build_checks) = (bodies.build(), &checks.build);
    let topology = equations.topology();
    let (_, values) = equations.fields();
    let output_values = outputs.list.iter().map(|(_, name)| quote!(#name: #name::Data::new(&scalars),));
    let memory_value = (program.memory_len() > 0).then(|| quote!(memory: rt::vec![0.0; #memory],));
    let (starts, output_starts) = (equations.starts(), outputs.starts());
    let (start_name, start_point) = if starts.is_empty() {
        (ident("_s"), None)
    } else {
        (ident("s"), Some(inputs::point(context, &quote!(s), &TokenStream::new())))
    };
    let observed = (!output_starts.is_empty()).then(|| {
        let point = inputs::point(context, &quote!(&s), &quote!(lambda: &lambda, globals: &globals,));
        quote! {
            let (lambda, globals) = rt::observe(self, &s);
            #point
            #output_starts
        }
    });
    let (input_value, input_field) = if program.inputs.is_empty() {
        (None, None)
    } else {
        (Some(quote!(let inputs = Inputs::new(&params);)), Some(quote!(inputs,)))
    };
    quote! {
        /// Makes the model with some values of its parameters.
        ///
        /// # Errors
        /// Where masses, inertias or placements are impossible, or a check of the parameters fails.
        pub fn new(params: Params) -> Result<Self, rt::ParamsError> {
            let scalars = params.scalars();
            let mut builder = rt::Builder::new(#count, #memory);
            #(#looks)*
            #build_bodies
            #build_checks
            #topology
            let base = builder.finish()?;
            let guess = base.guess.clone();
            #input_value
            let mut model = Self { base, params, #input_field #values #(#output_values)* #memory_value };
            model.set_start(&guess);
            Ok(model)
        }

        /// The parameters.
        #[must_use]
        pub fn params(&self) -> &Params { &self.params }

        /// The state before assembly, as the model gives it.
        #[must_use]
        pub fn guess(&self) -> &rt::State { &self.base.guess }

        /// A consistent state to start from, and what assembly found.
        ///
        /// # Errors
        /// If the constraints cannot be fulfilled together.
        pub fn assemble(&mut self) -> Result<(rt::State, rt::AssemblyReport), rt::AssemblyError> {
            let mut guess = self.base.guess.clone();
            rt::wind(self, &mut guess);
            let (s, report) = rt::assemble(self, guess)?;
            self.set_start(&s);
            #observed
            Ok((s, report))
        }

        /// Computes what the equations take from the start.
        fn set_start(&mut self, #start_name: &rt::State) {
            #start_point
            #starts
        }
    }
}

/// Methods that tell how the model wants to be run, and the modules that they need.
fn run_defaults(context: Context<'_>, notes: &Notes, names: &mut Names) -> (TokenStream, TokenStream) {
    let defaults = &context.program.defaults;
    let mut code = TokenStream::new();
    let mut value = |name: &str, probe: &Option<crate::ir::program::Probe>| {
        let probe = probe.as_ref()?;
        if let Some(&[x]) = probe::constant(probe).as_deref() {
            let x = expr::Expr::number(x);
            return Some(quote!(#x));
        }
        let module = names.take_snake(&format!("simulate {name}"));
        code.extend(probe::module(context, probe, &module, &[format!(" The setting `{name}` of a run.")]));
        Some(quote!(#module::Data::new(&self.params.scalars()).evaluate(&rt::Point::NONE)[0]))
    };
    let [step, until, every, tolerance] = [
        ("step", &defaults.step),
        ("until", &defaults.until),
        ("every", &defaults.every),
        ("tolerance", &defaults.tolerance),
    ]
    .map(|(name, probe)| value(name, probe));
    let option = |value: &Option<TokenStream>| value.as_ref().map_or(quote!(None), |value| quote!(Some(#value)));
    let mut methods = TokenStream::new();
    if let (true, Some(until)) = (defaults.is_auto, &until) {
        let every = option(&every);
        methods.extend(quote! {
            /// The outputs of a run as the model asks for, between which a tolerance chooses the steps; `None` if they are impossible.
            #[must_use]
            pub fn plan(&self) -> Option<rt::Plan> { rt::Plan::outputs(#every, #until) }
        });
    }
    if let (Some(step), Some(until)) = (&step, &until) {
        methods.extend(quote! {
            /// The steps of a run as the model asks for; `None` if they are impossible.
            #[must_use]
            pub fn plan(&self) -> Option<rt::Plan> { rt::Plan::new(#step, #until) }
        });
    }
    if let Some(every) = every {
        methods.extend(quote! {
            /// Interval of recording, s.
            #[must_use]
            pub fn every(&self) -> f64 { #every }
        });
    }
    if let Some(stepper) = &notes.stepper {
        let stepper = if defaults.is_auto {
            let (tolerance, until) = (option(&tolerance), option(&until));
            quote!(rt::adaptive(self, #stepper, #tolerance, #until))
        } else {
            quote!(rt::stepper(self, #stepper))
        };
        methods.extend(quote! {
            /// The stepper that the model asks for.
            ///
            /// # Errors
            /// If there is none of that name, or if it cannot move the model.
            pub fn stepper(&self) -> Result<rt::AnyStepper, rt::StepperError> {
                #stepper
            }
        });
    }
    (methods, code)
}
