// A shared library that counts the letters of a text, with a loop of its own for each kind.
int letters(const char *text, int len) {
    int count = 0;
    for (int i = 0; i < len && text[i]; i++) {
        if (text[i] >= 'a' && text[i] <= 'z') count++;
    }
    return count;
}
