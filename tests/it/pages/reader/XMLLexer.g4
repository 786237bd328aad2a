lexer grammar XMLLexer;
OPEN : '<' -> pushMode(TAG) ;
TEXT : ~[<&]+ ;
mode TAG;
CLOSE : '>' -> popMode ;
SLASH : '/' ;
NAME : [a-z]+ ;
