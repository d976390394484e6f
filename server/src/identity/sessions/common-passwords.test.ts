import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCommonPassword } from './common-passwords.ts'

const verdicts = (passwords: string[]) =>
  Promise.all(passwords.map(async (each) => [each, await isCommonPassword(each)]))

test('a listed password is common in any case and in any Unicode form', async () => {
  const passwords = ['qwerty123456', 'QWERTY123456', '1q2w3e4r5t6y', 'ｑｗｅｒｔｙ123456']
  assert.deepEqual(
    await verdicts(passwords),
    passwords.map((each) => [each, true]),
  )
})

test('a listed word with up to six digits or symbols around it is common', async () => {
  assert.deepEqual(await verdicts(['Password1234!', '!!dragon2024', 'administrator1', 'dragon8374650']), [
    ['Password1234!', true],
    ['!!dragon2024', true],
    ['administrator1', true],
    ['dragon8374650', false],
  ])
})

test('a repetition of a listed password is common', async () => {
  const passwords = ['dragondragon', 'abc123abc123', 'monkeymonkey99']
  assert.deepEqual(
    await verdicts(passwords),
    passwords.map((each) => [each, true]),
  )
})

test('other passwords are not common, whatever they contain', async () => {
  const passwords = [
    'correct horse battery',
    'a long password',
    '',
    '83746509182736',
    'Ж'.repeat(12),
    '# origin: the',
  ]
  assert.deepEqual(
    await verdicts(passwords),
    passwords.map((each) => [each, false]),
  )
})
