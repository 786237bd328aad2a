// Reads words to a map and says how many there are; the letters are counted by a shared library.
#include <iostream>
#include <map>
#include <string>

extern "C" int letters(const char *text, int len);

// It is never destroyed, which would be counted.
static const std::map<std::string, int> &made_before_main = *[] {
    auto *made = new std::map<std::string, int>;
    for (int i = 0; i < 1000; i++) (*made)[std::to_string(i)] = i;
    return made;
}();

int main() {
    std::map<std::string, int> words;
    std::string word;
    int sum = 0;
    while (std::cin >> word) {
        words[word]++;
        sum += letters(word.data(), static_cast<int>(word.size()));
    }
    std::cout << words.size() << " " << sum << std::endl;
    return made_before_main.size() == 1000 ? 0 : 1;
}
