-- Calls, a sort, strings and patterns.
local function fibonacci(n)
    if n < 2 then return n end
    return fibonacci(n - 1) + fibonacci(n - 2)
end
print(fibonacci(29))

local numbers = {}
for i = 1, 200000 do numbers[i] = (i * 7919) % 100003 end
table.sort(numbers)
print(numbers[1], numbers[#numbers])

local pairs_of_words, length = {}, 0
for i = 1, 60000 do pairs_of_words[i] = ("k%d=%s"):format(i, string.rep("x", i % 17)) end
for key, value in table.concat(pairs_of_words, ";"):gmatch("(%w+)=(%w*)") do length = length + #key + #value end
print(length)
