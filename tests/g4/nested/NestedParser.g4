// Names and texts in braces.
parser grammar NestedParser;

options {
    tokenVocab = NestedLexer;
}

file
    : (NAME | OPEN TEXT* CLOSE)* EOF
    ;
