import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Directive, findDirectives } from './directives.ts'

const readAs: [text: string, directives: Directive[]][] = [
  ['[[reply:hello there]]', [{ name: 'reply', text: 'hello there' }]],
  ['[[reply:]]', [{ name: 'reply', text: '' }]],
  ['[[reply:a:b,c]]', [{ name: 'reply', text: 'a:b,c' }]],
  ['[[echo]]', [{ name: 'echo' }]],
  ['[[model]]', [{ name: 'model' }]],
  ['[[system]]', [{ name: 'system' }]],
  ['[[images]]', [{ name: 'images' }]],
  ['[[recall:blue-7]]', [{ name: 'recall', key: 'blue-7' }]],
  ['[[len]]', [{ name: 'len' }]],
  ['[[pad:3]]', [{ name: 'pad', count: 3 }]],
  ['[[sleep:2]]', [{ name: 'sleep', seconds: 2 }]],
  ['[[sleep:0.25]]', [{ name: 'sleep', seconds: 0.25 }]],
  ['[[sleep:.5]]', [{ name: 'sleep', seconds: 0.5 }]],
  ['[[drip:40]]', [{ name: 'drip', milliseconds: 40 }]],
  ['[[usage:1200,34]]', [{ name: 'usage', input: 1200, output: 34 }]],
  ['[[usage: 1 , 2 ]]', [{ name: 'usage', input: 1, output: 2 }]],
  ['[[fail]]', [{ name: 'fail', status: 400 }]],
  ['[[fail:503]]', [{ name: 'fail', status: 503 }]],
  ['[[fail-first:job 7:2]]', [{ name: 'fail-first', key: 'job 7', count: 2 }]],
  ['[[fail-first:a:b:2]]', [{ name: 'fail-first', key: 'a:b', count: 2 }]],
  ['[[ratelimit]]', [{ name: 'ratelimit' }]],
  ['[[autherror]]', [{ name: 'autherror' }]],
  ['[[overloaded]]', [{ name: 'overloaded' }]],
  ['[[cut]]', [{ name: 'cut' }]],
  ['[[tool:Bash:ls -l | wc]]', [{ name: 'tool', tool: 'Bash', input: { command: 'ls -l | wc' } }]],
  ['[[tool:Bash:echo a:b]]', [{ name: 'tool', tool: 'Bash', input: { command: 'echo a:b' } }]],
  ['[[tool:Bash:{ echo a; }]]', [{ name: 'tool', tool: 'Bash', input: { command: '{ echo a; }' } }]],
  ['[[tool:Bash:{"command":"ls"}]]', [{ name: 'tool', tool: 'Bash', input: { command: 'ls' } }]],
  [
    '[[tool:Write:{"file_path":"/a","content":"x\\ny"}]]',
    [{ name: 'tool', tool: 'Write', input: { file_path: '/a', content: 'x\ny' } }],
  ],
  ['[[tool:Other:{}]]', [{ name: 'tool', tool: 'Other', input: {} }]],
]

for (const [text, directives] of readAs) {
  test(`${text} is parsed with its argument`, () => {
    assert.deepEqual(findDirectives(text), directives)
  })
}

const ordinary = [
  'plain words',
  '',
  '[[unknown]]',
  '[[Reply:x]]',
  '[[ echo ]]',
  '[[echo:x]]',
  '[[reply]]',
  '[[recall:]]',
  '[[pad]]',
  '[[pad:-1]]',
  '[[pad:99999999999999]]',
  '[[sleep:soon]]',
  '[[sleep:1e9]]',
  '[[drip:]]',
  '[[usage:1]]',
  '[[usage:1,2,3]]',
  '[[fail:200]]',
  '[[fail:600]]',
  '[[fail:4xx]]',
  '[[fail-first:2]]',
  '[[fail-first:key:many]]',
  '[[tool:Bash]]',
  '[[tool:Write:not json]]',
  '[[tool:Write:[1]]]',
  '[[reply:never closed',
  '[[reply:closed on\nanother line]]',
  '[reply:x]',
]

for (const text of ordinary) {
  test(`${JSON.stringify(text)} is ordinary text`, () => {
    assert.deepEqual(findDirectives(text), [])
  })
}

function names(text: string): string[] {
  return findDirectives(text).map((directive) => directive.name)
}

test('all directives of a line apply, from left to right', () => {
  assert.deepEqual(names('please [[sleep:1]] then [[usage:1,2]][[reply:x]] thanks'), [
    'sleep',
    'usage',
    'reply',
  ])
})

test('only the last line with a directive applies', () => {
  const text = ['[[fail]]', 'text before', '[[reply:a]] [[pad:1]]', 'text behind', ''].join('\n')
  assert.deepEqual(names(text), ['reply', 'pad'])
  assert.deepEqual(names(text.replaceAll('\n', '\r\n')), ['reply', 'pad'])
})

test('a line with only invalid directives does not hide the line above', () => {
  assert.deepEqual(names('[[reply:a]]\nsee [[unknown]] and [[pad:x]]'), ['reply'])
})

test('a directive ends at the first closing brackets', () => {
  assert.deepEqual(findDirectives('[[reply:a]] b]]'), [{ name: 'reply', text: 'a' }])
  assert.deepEqual(findDirectives('[[reply:a]]]'), [{ name: 'reply', text: 'a' }])
  assert.deepEqual(findDirectives('[[reply:a [[echo]]'), [{ name: 'reply', text: 'a [[echo' }])
})

test('a directive inside other brackets is found', () => {
  assert.deepEqual(names('[[[[note [[echo]]'), ['echo'])
  assert.deepEqual(names('[[[echo]]]'), ['echo'])
  assert.deepEqual(names('[[pad:[[echo]]'), ['echo'])
})

test('a megabyte of opening brackets is parsed quickly', { timeout: 5000 }, () => {
  assert.deepEqual(names(`${'[[pad:'.repeat(200_000)}]]`), [])
  assert.deepEqual(names('[['.repeat(500_000)), [])
})
