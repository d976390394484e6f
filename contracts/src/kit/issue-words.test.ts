import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { issueWords } from './issue-words.ts'

const wordsOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: issueWords }).error?.issues.map(({ message }) => message)

test('a broken rule is the rest of a sentence about the field, without terms of the schema', () => {
  const table: [schema: z.ZodType, value: unknown, words: string][] = [
    [z.string(), undefined, 'is required'],
    [z.enum(['a', 'b']), undefined, 'is required'],
    [z.string(), 5, 'must be text'],
    [z.number(), 'x', 'must be a number'],
    [z.number(), Number.NaN, 'must be a number'],
    [z.number().int(), 1.5, 'must be a whole number'],
    [z.boolean(), 1, 'must be true or false'],
    [z.array(z.string()), 'a', 'must be a list'],
    [z.object({}), 'a', 'must be an object'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(8), 'a', 'must have at least 8 characters'],
    [z.string().max(1), 'ab', 'must have at most 1 character'],
    [z.string().length(6), 'a', 'must have exactly 6 characters'],
    [z.array(z.string()).min(1), [], 'must have at least 1 item'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
    [z.number().min(60), 5, 'must be at least 60'],
    [z.number().max(7200), 9000, 'must be at most 7200'],
    [z.number().gt(0), 0, 'must be more than 0'],
    [z.number().lt(1), 1, 'must be less than 1'],
    [z.number().multipleOf(5), 3, 'must be a multiple of 5'],
    [z.enum(['read', 'write']), 'all', 'must be one of: read, write'],
    [z.literal('x'), 'y', 'must be x'],
    [z.email(), 'b', 'must be an e-mail address such as ada@example.com'],
    [z.url(), 'b', 'must be a URL such as https://example.com'],
    [z.iso.datetime(), 'soon', 'must be an ISO 8601 date and time'],
    [z.string().startsWith('/'), 'a', 'must start with "/"'],
    [z.string().endsWith('.md'), 'a', 'must end with ".md"'],
    [z.string().regex(/^a$/), 'b', 'must match the pattern /^a$/'],
    [z.strictObject({}), { a: 1, b: 2 }, 'has unknown fields: a, b'],
    [z.union([z.string(), z.number()]), true, 'is not a valid value'],
    [
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
      { t: 'c' },
      'must be one of: a, b',
    ],
    [z.string().refine(() => false), 'a', 'is not valid'],
    [z.string().min(3, 'needs three letters'), 'a', 'needs three letters'],
  ]
  for (const [schema, value, words] of table) assert.deepEqual(wordsOf(schema, value), [words], words)
})
