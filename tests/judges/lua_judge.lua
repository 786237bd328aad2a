-- Judges Lua chunks by Lua itself: `load` compiles each, nothing runs.
--
-- Reads NUL-separated documents from standard input; exit status 0 or 1 as in judging.py.

local input = io.read("a")
local count, rejected, reasons = 0, 0, {}
local from = 1
while from <= #input do
  local to = input:find("\0", from, true) or #input + 1
  local document = input:sub(from, to - 1)
  local chunk, reason = load(document, "=document", "t")
  if not chunk then
    rejected = rejected + 1
    if rejected <= 5 then
      reasons[#reasons + 1] = ("--- document %d, %d bytes: %s\n%s"):format(count, #document, reason, document:sub(1, 600))
    end
  end
  count = count + 1
  from = to + 1
end
print(("accepted %d of %d"):format(count - rejected, count))
for _, reason in ipairs(reasons) do
  print(reason)
end
os.exit(count > 0 and rejected == 0 and 0 or 1)
