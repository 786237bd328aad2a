//! The procedural macro behind `gramjet::grammar!`: a shim over the compiler. Use it through the `gramjet` crate, which
//! documents it.

mod beside;
mod input;

use std::sync::Arc;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use gramjet_compiler::backend::rust::tokens;
use gramjet_compiler::formats::Loader;
use gramjet_compiler::shape::{AssumedLimits, Weighting};
use gramjet_compiler::{Options, SourceFile, compile, formats};

use beside::Beside;
use input::{Module, Modules, Source};

/// Compiles grammars to modules with producers; see `gramjet::grammar`.
#[proc_macro]
pub fn grammar(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    match syn::parse::<Modules>(input) {
        Ok(modules) => modules.list.iter().map(expand).collect::<TokenStream>().into(),
        Err(error) => error.to_compile_error().into(),
    }
}

fn expand(module: &Module) -> TokenStream {
    module_tokens(module).unwrap_or_else(|(span, message)| quote_spanned!(span => ::core::compile_error!(#message);))
}

fn module_tokens(module: &Module) -> Result<TokenStream, (Span, String)> {
    let Module { attributes, visibility, name, .. } = module;
    let mut beside = None;
    let (file, format, mut dependency) = match &module.source {
        Source::Inline { format, text } => {
            let format = formats::by_name(&format.to_string())
                .ok_or_else(|| (format.span(), format!("unknown grammar format `{format}`; {}", known_formats())))?;
            (SourceFile::new(format!("<{name}>"), text.value()), Some(format), quote!())
        }
        Source::File(path) => {
            let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
            let full = std::path::Path::new(&root).join(path.value());
            let text = std::fs::read_to_string(&full).map_err(|error| {
                (path.span(), format!("cannot read the grammar, relative to the package's manifest: {error}"))
            })?;
            beside = full.parent().map(|folder| Arc::new(Beside::new(folder)));
            let full = full.display().to_string();
            // Makes the compiler run again when the file changes.
            let dependency = quote!(
                const _: &[u8] = ::core::include_bytes!(#full);
            );
            (SourceFile::new(path.value(), text), None, dependency)
        }
    };
    let format =
        match &module.format {
            Some(name) => Some(formats::by_name(&name.value()).ok_or_else(|| {
                (name.span(), format!("unknown grammar format `{}`; {}", name.value(), known_formats()))
            })?),
            None => format,
        };
    let weighting = match (&module.weights, module.shape) {
        (Some(path), Some(_)) => return Err((path.span(), "give either a shape or weights".to_string())),
        (Some(path), None) => {
            let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
            let full = std::path::Path::new(&root).join(path.value());
            let text = std::fs::read_to_string(&full).map_err(|error| {
                (path.span(), format!("cannot read the weights, relative to the package's manifest: {error}"))
            })?;
            let full = full.display().to_string();
            dependency.extend(quote!(
                const _: &[u8] = ::core::include_bytes!(#full);
            ));
            Weighting::File(SourceFile::new(path.value(), text))
        }
        (None, Some(shape)) => Weighting::Shape(shape),
        (None, None) => Weighting::Own,
    };
    let options = Options {
        format,
        weighting,
        limits: AssumedLimits { max_depth: module.emit.max_depth.map(Some), max_len: module.emit.max_len.map(Some) },
        start: module.start.as_ref().map(syn::LitStr::value),
        reading: module.reading,
        tokens: module.tokens.as_ref().map(syn::LitStr::value),
        loader: beside.clone().map(|beside| beside as Arc<dyn Loader + Send + Sync>),
        ..Options::default()
    };
    let (compiled, warnings) = compile(&file, &options)
        .map_err(|errors| (module.source.span(), format!("the grammar has errors\n{}", errors.to_plain_text(&file))))?;
    for path in beside.iter().flat_map(|beside| beside.loaded()) {
        dependency.extend(quote!(
            const _: &[u8] = ::core::include_bytes!(#path);
        ));
    }
    module.emit.check(&compiled).map_err(|problem| (module.name.span(), problem))?;
    let items = tokens(&compiled, &module.emit);
    let mut texts: Vec<String> = module.emit.warning(&compiled).into_iter().collect();
    if !warnings.is_empty() {
        texts.push(warnings.to_plain_text(&file));
    }
    let warning = (!texts.is_empty()).then(|| warning(module.source.span(), &texts.join("\n")));
    Ok(quote! {
        #(#attributes)*
        #visibility mod #name {
            #dependency
            #warning
            #items
        }
    })
}

/// Items that make the compiler show a text as a warning at `span`: stable Rust lets macros warn by deprecation only.
fn warning(span: Span, text: &str) -> TokenStream {
    let text = format!("the grammar has warnings\n{text}");
    quote_spanned!(span =>
        const _: () = {
            #[deprecated(note = #text)]
            const GRAMMAR: () = ();
            GRAMMAR
        };
    )
}

fn known_formats() -> String {
    let names: Vec<&str> = formats::ALL.iter().map(|format| format.name()).collect();
    format!("known are {}", names.join(", "))
}
