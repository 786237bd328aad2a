parser grammar XMLParser;
options { tokenVocab = XMLLexer; }
document : element EOF ;
element : OPEN NAME CLOSE content OPEN SLASH NAME CLOSE ;
content : TEXT? (element TEXT?)* ;
