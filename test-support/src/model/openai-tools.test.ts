import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from './conversation.ts'
import { readTools, translateCall } from './openai-tools.ts'

function offering(body: Record<string, unknown>): ModelRequest {
  return {
    model: 'gpt-x',
    system: '',
    messages: [],
    tools: readTools(body),
    streamForm: null,
    isSide: false,
    answerSchema: null,
  }
}

const shellOnly = offering({ tools: [{ type: 'function', name: 'exec_command' }, { type: 'web_search' }] })
const shellAndPatch = offering({
  tools: [
    { type: 'function', name: 'exec_command' },
    { type: 'custom', name: 'apply_patch' },
  ],
})
const codeMode = offering({
  input: [
    {
      type: 'additional_tools',
      role: 'developer',
      tools: [
        {
          type: 'namespace',
          name: 'functions',
          tools: [
            {
              type: 'custom',
              name: 'exec',
              description:
                'declare const tools: { apply_patch(input: string): … } { exec_command(args: {…}): … }',
            },
          ],
        },
      ],
    },
  ],
})

const bash = { command: 'echo "hi"' }
const write = { file_path: '/a b.txt', content: 'x\n\ny\n' }
const patch = '*** Begin Patch\n*** Add File: /a b.txt\n+x\n+\n+y\n*** End Patch\n'

test('Bash uses the shell that codex offers, whatever its name', () => {
  assert.deepEqual(translateCall(shellOnly, 'Bash', bash), {
    form: 'function',
    name: 'exec_command',
    namespace: null,
    argument: JSON.stringify({ cmd: 'echo "hi"', yield_time_ms: 30_000 }),
  })
  const older = offering({ tools: [{ type: 'function', name: 'shell_command' }] })
  assert.equal(translateCall(older, 'Bash', bash)?.argument, JSON.stringify({ command: 'echo "hi"' }))
  const oldest = offering({ tools: [{ type: 'function', name: 'shell' }] })
  assert.equal(
    translateCall(oldest, 'Bash', bash)?.argument,
    JSON.stringify({ command: ['bash', '-lc', 'echo "hi"'] }),
  )
})

test('Write is a patch where patches are offered', () => {
  assert.deepEqual(translateCall(shellAndPatch, 'Write', write), {
    form: 'custom',
    name: 'apply_patch',
    namespace: null,
    argument: patch,
  })
})

test('Write is a patch through the shell where only a shell is offered', () => {
  const call = translateCall(shellOnly, 'Write', write)
  assert.equal(call?.name, 'exec_command')
  assert.equal(JSON.parse(call?.argument ?? '').cmd, `apply_patch <<'ROOST_END'\n${patch}ROOST_END`)
})

test('in code mode both are scripts for exec, in its namespace', () => {
  const run = translateCall(codeMode, 'Bash', bash)
  assert.deepEqual([run?.form, run?.name, run?.namespace], ['custom', 'exec', 'functions'])
  assert.match(
    run?.argument ?? '',
    /await tools\.exec_command\(\{"cmd":"echo \\"hi\\"","yield_time_ms":30000\}\)/,
  )
  const written = translateCall(codeMode, 'Write', write)
  assert.equal(written?.argument, `text(await tools.apply_patch(${JSON.stringify(patch)}))`)
})

test('a tool is also found by its own name, with or without its namespace', () => {
  const request = offering({
    tools: [
      { type: 'function', name: 'Bash' },
      { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'find' }] },
    ],
  })
  assert.equal(translateCall(request, 'Bash', bash)?.argument, JSON.stringify(bash))
  assert.deepEqual(translateCall(request, 'mcp__x__find', { q: 1 }), {
    form: 'function',
    name: 'find',
    namespace: 'mcp__x',
    argument: '{"q":1}',
  })
})

test('in code mode an MCP tool is looked up when the script runs', () => {
  const description = 'Deferred tools are listed in `ALL_TOOLS`.'
  const request = offering({ tools: [{ type: 'custom', name: 'exec', description }] })
  const call = translateCall(request, 'mcp__x__find', { q: 1 })
  assert.deepEqual([call?.form, call?.name], ['custom', 'exec'])
  assert.match(call?.argument ?? '', /tools\["mcp__x__find"\][\s\S]*no-tool: mcp__x__find[\s\S]*\{"q":1\}/)
  assert.equal(translateCall(request, 'other', {}), null)
})

test('a tool that nothing offered can run gives no call', () => {
  assert.equal(translateCall(offering({}), 'Bash', bash), null)
  assert.equal(translateCall(offering({}), 'Write', write), null)
  assert.equal(translateCall(shellAndPatch, 'Other', {}), null)
  const plainExec = offering({ tools: [{ type: 'custom', name: 'exec', description: 'runs JavaScript' }] })
  assert.equal(translateCall(plainExec, 'Bash', bash), null)
})
