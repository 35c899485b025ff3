import { describe, expect, test } from "bun:test"
import { embeddedCall, readBlocks, readPrinted } from "../../../src/provider/ladder/printed-calls.ts"
import { block, callText, offered } from "./ladder-kit.ts"

const json = callText("read_file", { path: "a" })
const read = { tool: "read_file", arguments: { path: "a" } }
const write = { tool: "write_file", arguments: { path: "b", content: "</tool_call>\n```\n[TOOL_CALLS]" } }
const writeJson = JSON.stringify(write)

describe("calls are read when they are printed", () => {
  const one: readonly string[] = [
    json,
    ` \n${json}\n\n`,
    `[${json}]`,
    `\`\`\`json\n${json}\n\`\`\``,
    `\`\`\`\n${json}\n\`\`\`\n`,
    `\`\`\`tool\n${json}\n\`\`\``,
    `\`\`\`tool_call\n${json}\n\`\`\``,
    `\`\`\`json\r\n${json}\r\n\`\`\``,
    `\`\`\`tool\n${json}`,
    `<tool_call>${json}</tool_call>`,
    `<tool_call>\n${json}\n</tool_call>\n<|im_end|>`,
    `<tool_call>${json}`,
    '<function=read_file>{"path":"a"}</function>',
    '<function=read_file>\n{"path":"a"}\n',
    `[TOOL_CALLS][${json}]</s>`,
    `[TOOL_CALLS] ${json}`,
    `<|python_tag|>${json}<|eom_id|>`,
    '<|python_tag|>{"type":"function","name":"read_file","parameters":{"path":"a"}}',
  ]
  test.each(one)("%j", text => {
    expect(readPrinted(text, offered)).toEqual({ kind: "calls", calls: [read] })
  })

  const several: readonly string[] = [
    `${json}\n${writeJson}`,
    `${json}; ${writeJson}`,
    `[${json},${writeJson}]`,
    `\`\`\`json\n${json}\n${writeJson}\n\`\`\``,
    `\`\`\`json\n${json}\n\`\`\`\n\n\`\`\`json\n${writeJson}\n\`\`\``,
    `<tool_call>${json}</tool_call>\n<tool_call>${writeJson}</tool_call>`,
    `<tool_call>${json}\n${writeJson}</tool_call>`,
    `[TOOL_CALLS][${json}][TOOL_CALLS][${writeJson}]`,
    `<|python_tag|>${json}; ${writeJson}`,
  ]
  test.each(several)("several of them: %j", text => {
    expect(readPrinted(text, offered)).toEqual({ kind: "calls", calls: [read, write] })
  })
})

describe("calls are not read", () => {
  test.each([
    "",
    "  ",
    "All is done.",
    '{"goal":"x"}',
    "[1,2]",
    "{ not json",
    "```ts\nlet a = {}\n```",
    "[x] done",
  ])("out of %j, which is none", text => {
    expect(readPrinted(text, offered)).toEqual({ kind: "none" })
  })

  const doubts: readonly (readonly [text: string, problem: string])[] = [
    [`${json} reads it.`, "the printed call of read_file"],
    [`${json}\n<tool_call>${json}</tool_call>`, "the printed call of read_file"],
    [`<tool_call>${json}</tool_call> for example`, "the printed call of read_file"],
    [`\`\`\`json\n${json}\n\`\`\`\nThis would read it.`, "the printed call of read_file"],
    [`\`\`\`json\n${json}\n// reads it\n\`\`\``, "a printed call is not followed by ```"],
    ['<tool_call>{"a":1}</tool_call>', "the printed call is not valid"],
    [`${json}\n{"a":1}`, "the printed call is not valid"],
    ["<tool_call>{'tool'", "a printed call is not JSON: line 1, column 2: expected a name in double quotes"],
    ["<function=read_file><parameter=path>a</parameter></function>", "line 1, column 1: expected a value"],
    ['<function=Skill>{"a":1}</function>', '"Skill" is not offered'],
    ['{"name":"read_file","arguments":{"path":"a"', 'expected "," or "}" and found the end'],
    [
      '{"name":"write_file","arguments":{"content":"a\nb"}}',
      'expected an escape such as "\\n" inside of text',
    ],
    ['[{"name":"read_file","arguments":{}},', "expected a value and found the end"],
  ]
  test.each(doubts)("out of %j, and it is told why", (text, problem) => {
    const reading = readPrinted(text, offered)
    expect(reading.kind === "problem" ? reading.problem : reading).toContain(problem)
  })

  test("out of broken JSON that names another tool, which is an ordinary answer", () => {
    expect(readPrinted('{"name":"acode","version":', offered)).toEqual({ kind: "none" })
  })
})

describe("blocks", () => {
  test("are read in their order, and the text around them is kept", () => {
    const text = `First.\n${block("read_file", { path: "a" })}\nThen.\n${block("write_file", write.arguments)}\nEnd.`
    expect(readBlocks(text, offered)).toEqual({
      kind: "calls",
      calls: [read, write],
      kept: "First.\n\nThen.\n\nEnd.",
    })
  })

  test("end where their JSON ends, whatever is in it", () => {
    const args = { path: "a.md", content: '```tool\n{}\n```\n\\"}' }
    expect(readBlocks(block("write_file", args), offered)).toMatchObject({
      calls: [{ tool: "write_file", arguments: args }],
      kept: "",
    })
  })

  test("are read all or none", () => {
    const text = `${block("read_file", { path: "a" })}\n\`\`\`tool\n{"tool":"read_file",\n\`\`\``
    expect(readBlocks(text, offered)).toEqual({
      kind: "problem",
      problem:
        'a printed call is not JSON: line 2, column 1: expected a name in double quotes and found "```"',
    })
  })

  test("begin a line, and have no other word", () => {
    for (const text of ["see ```tool\n{}\n```", "```toolbox\n{}\n```", "```ts\nlet a\n```", "no block"])
      expect(readBlocks(text, offered)).toEqual({ kind: "none" })
  })
})

describe("a call inside of other text", () => {
  const embedded: readonly string[] = [
    `You could say <tool_call>${json}</tool_call> for it.`,
    `For example:\n\`\`\`json\n${json}\n\`\`\`\nand so on`,
    `For example:\n  ${json}\nand so on`,
    'I call <function=read_file>{"path":"a"}</function> now',
    `{"a":1}\n${json}`,
  ]
  test.each(embedded)("is found in %j", text => {
    expect(embeddedCall(text, offered)).toBe("read_file")
  })

  const others: readonly string[] = [
    "nothing",
    "a {b} c",
    '{"name":"Skill","arguments":{}}',
    "the word read_file",
    `inline ${json} is not looked at`,
    "{\n".repeat(10_000),
  ]
  test.each(others)("is not found in %j", text => {
    expect(embeddedCall(text.slice(0, 20_000), offered)).toBeNull()
  })
})
