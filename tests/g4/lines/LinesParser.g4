// A grammar whose base class decides: a statement needs no semicolon before a closing brace or at the end.
parser grammar LinesParser;

options {
    tokenVocab = LinesLexer;
    superClass = LinesParserBase;
}

file
    : (statement eos)* EOF
    ;

statement
    : NAME+
    | OPEN (statement eos)* CLOSE
    ;

eos
    : SEMICOLON
    | {this.closingBracket()}?
    ;
