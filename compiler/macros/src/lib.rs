//! The procedural macro that `gramjet::grammar!` expands to: a thin layer over the compiler. Use it through the
//! `gramjet` crate, which documents it.

mod input;

use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use gramjet_compiler::backend::rust::tokens;
use gramjet_compiler::files::{GrammarFile, read_text};
use gramjet_compiler::shape::Weighting;
use gramjet_compiler::{Options, compile, formats};

use input::{Module, Modules, Source};

/// Compiles grammars to modules with producers; see `gramjet::grammar`. The input begins with the path of the library.
#[proc_macro]
pub fn grammar(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    match syn::parse::<Modules>(input) {
        Ok(Modules { library, list }) => {
            list.iter().map(|module| expand(module, &library)).collect::<TokenStream>().into()
        }
        Err(error) => error.to_compile_error().into(),
    }
}

fn expand(module: &Module, library: &TokenStream) -> TokenStream {
    module_tokens(module, library)
        .unwrap_or_else(|(span, message)| quote_spanned!(span => ::core::compile_error!(#message);))
}

fn module_tokens(module: &Module, library: &TokenStream) -> Result<TokenStream, (Span, String)> {
    let Module { attributes, visibility, name, .. } = module;
    let (file, format) = match &module.source {
        Source::Inline { format, text } => {
            let format = formats::by_name(&format.to_string())
                .ok_or_else(|| (format.span(), formats::unknown(&format.to_string())))?;
            (GrammarFile::text(format!("<{name}>"), text.value()), Some(format))
        }
        Source::File(path) => {
            let file = GrammarFile::read_as(&in_package(path), Path::new(&path.value()))
                .map_err(|unreadable| (path.span(), relative(&unreadable.to_string())))?;
            (file, None)
        }
    };
    let format = match &module.format {
        Some(name) => {
            Some(formats::by_name(&name.value()).ok_or_else(|| (name.span(), formats::unknown(&name.value())))?)
        }
        None => format,
    };
    let weighting = match (&module.weights, module.shape) {
        (Some(path), Some(_)) => return Err((path.span(), "give either a shape or weights".to_string())),
        (Some(path), None) => {
            let file = read_text("weights", &in_package(path), Path::new(&path.value()))
                .map_err(|unreadable| (path.span(), relative(&unreadable.to_string())))?;
            Weighting::File(file)
        }
        (None, Some(shape)) => Weighting::Shape(shape),
        (None, None) => Weighting::Own,
    };
    let options = Options {
        format,
        weighting,
        limits: module.emit.asked(),
        start: module.start.as_ref().map(syn::LitStr::value),
        reading: module.reading,
        tokens: module.tokens.as_ref().map(syn::LitStr::value),
        loader: file.loader(),
        ..Options::default()
    };
    let source = &file.source;
    let (compiled, warnings) = compile(source, &options).map_err(|errors| {
        (module.source.span(), format!("the grammar has errors\n{}", errors.to_plain_text(source)))
    })?;
    let named = match &module.source {
        Source::File(path) => Some(in_package(path)),
        Source::Inline { .. } => None,
    };
    let paths = named.into_iter().chain(module.weights.as_ref().map(in_package)).chain(file.others());
    let paths = paths.map(|path| path.display().to_string());
    module.emit.check(&compiled).map_err(|problem| (module.name.span(), problem))?;
    let items = tokens(&compiled, &module.emit, library);
    let mut texts: Vec<String> = module.emit.warning(&compiled).into_iter().collect();
    if !warnings.is_empty() {
        texts.push(warnings.to_plain_text(source));
    }
    let warning = (!texts.is_empty()).then(|| warning(module.source.span(), &texts.join("\n")));
    Ok(quote! {
        #(#attributes)*
        #visibility mod #name {
            // These constants make the compiler run again when a file changes.
            #(const _: &[u8] = ::core::include_bytes!(#paths);)*
            #warning
            #items
        }
    })
}

/// Returns items that make the compiler show a text as a warning at `span`: stable Rust lets macros warn by deprecation
/// only.
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

/// Returns the file at a path that is relative to the package's manifest.
fn in_package(path: &syn::LitStr) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join(path.value())
}

/// Returns the message for a file that cannot be read.
fn relative(problem: &str) -> String {
    format!("{problem} (paths are relative to the package's manifest)")
}
