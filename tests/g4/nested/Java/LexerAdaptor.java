// The code of NestedLexer.g4.

import org.antlr.v4.runtime.CharStream;
import org.antlr.v4.runtime.Lexer;

public abstract class LexerAdaptor extends Lexer {
    protected LexerAdaptor(CharStream input) {
        super(input);
    }

    /** A brace that another one encloses is text. */
    protected void handleEndAction() {
        if (popMode() == NestedLexer.Inner) setType(NestedLexer.TEXT);
    }
}
