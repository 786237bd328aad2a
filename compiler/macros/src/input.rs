//! The syntax of the macro's input.

use std::str::FromStr;

use gramjet_compiler::backend::rust::EmitOptions;
use gramjet_compiler::check::closest;
use gramjet_compiler::formats::FormatOptions;
use gramjet_compiler::shape::Shape;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitBool, LitInt, LitStr, Token, Visibility};

/// `#[...] pub mod NAME = SOURCE { OPTION: VALUE, ... };` any number of times; the options may be left out.
pub struct Modules {
    /// The path of the `gramjet` library. The `gramjet::grammar!` macro puts it in front of the modules.
    pub library: TokenStream,
    pub list: Vec<Module>,
}

pub struct Module {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub name: Ident,
    pub source: Source,
    pub start: Option<LitStr>,
    pub format: Option<LitStr>,
    pub tokens: Option<LitStr>,
    pub reading: FormatOptions,
    pub shape: Option<Shape>,
    pub weights: Option<LitStr>,
    pub emit: EmitOptions,
}

/// Place of the grammar.
pub enum Source {
    /// `"path"`, relative to the package's manifest.
    File(LitStr),
    /// `FORMAT "text"`.
    Inline { format: Ident, text: LitStr },
}

impl Source {
    pub fn span(&self) -> Span {
        match self {
            Source::File(path) => path.span(),
            Source::Inline { text, .. } => text.span(),
        }
    }
}

impl Parse for Modules {
    fn parse(input: ParseStream<'_>) -> syn::Result<Modules> {
        let library = input.parse::<TokenTree>()?.into();
        let mut list = Vec::new();
        while !input.is_empty() {
            list.push(input.parse()?);
        }
        Ok(Modules { library, list })
    }
}

impl Parse for Module {
    fn parse(input: ParseStream<'_>) -> syn::Result<Module> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![mod]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let source = if input.peek(LitStr) {
            Source::File(input.parse()?)
        } else {
            Source::Inline { format: input.parse()?, text: input.parse()? }
        };
        let mut module = Module {
            attributes,
            visibility,
            name,
            source,
            start: None,
            format: None,
            tokens: None,
            reading: FormatOptions::default(),
            shape: None,
            weights: None,
            emit: EmitOptions::default(),
        };
        if input.peek(syn::token::Brace) {
            let options;
            syn::braced!(options in input);
            while !options.is_empty() {
                module.option(&options)?;
                if !options.is_empty() {
                    options.parse::<Token![,]>()?;
                }
            }
            input.parse::<Option<Token![;]>>()?;
        } else {
            input.parse::<Token![;]>()?;
        }
        Ok(module)
    }
}

impl Module {
    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        match key.to_string().as_str() {
            "start" => self.start = Some(input.parse()?),
            "format" => self.format = Some(input.parse()?),
            "max_depth" => self.emit.max_depth = Some(input.parse::<LitInt>()?.base10_parse()?),
            "max_len" => self.emit.max_len = Some(input.parse::<LitInt>()?.base10_parse()?),
            "forbid_unsafe" => self.emit.forbid_unsafe = input.parse::<LitBool>()?.value,
            "separator_policy" => self.reading.separators = named(input)?,
            "alphabet" => self.reading.alphabet = Some(named(input)?),
            "indent" => self.reading.indent = named(input)?,
            "zero_weights" => self.reading.zero_weights = named(input)?,
            "tokens" => self.tokens = Some(input.parse()?),
            "strict" => self.reading.strict = input.parse::<LitBool>()?.value,
            "shape" => self.shape = Some(named(input)?),
            "weights" => self.weights = Some(input.parse()?),
            unknown => return Err(syn::Error::new(key.span(), unknown_option(unknown))),
        }
        Ok(())
    }
}

/// The options, in the order of their documentation.
const OPTIONS: &[&str] = &[
    "start",
    "format",
    "tokens",
    "separator_policy",
    "alphabet",
    "indent",
    "zero_weights",
    "strict",
    "shape",
    "weights",
    "max_depth",
    "max_len",
    "forbid_unsafe",
];

fn unknown_option(name: &str) -> String {
    match closest(name, OPTIONS.iter().copied()) {
        Some(option) => format!("unknown option `{name}`; did you mean `{option}`?"),
        None => format!("unknown option `{name}`; known are {}", OPTIONS.join(", ")),
    }
}

/// Returns the value that a string names.
fn named<T: FromStr<Err = String>>(input: ParseStream<'_>) -> syn::Result<T> {
    let name: LitStr = input.parse()?;
    name.value().parse().map_err(|problem| syn::Error::new(name.span(), problem))
}
