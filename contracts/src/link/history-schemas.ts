/** Validates an agent's answers about its workspace's history. Names are bytes as characters. */
import { z } from 'zod'
import { historyPageEntries, historyReadBytes, historyReadFiles, maxLeftOutPaths } from './history.ts'

const Count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** Linux limits a path to 4,096 bytes. */
const Path = z
  .string()
  .max(4096)
  .regex(/^[\x01-\xff]*$/)
const Handle = z.string().min(1).max(100)
const Ok = z.object({ ok: z.literal(true) })

export const historyAnswerSchemas = {
  'history.scan': z.object({
    handle: Handle.nullable(),
    base: z.string().max(64).nullable(),
    left_out: z.object({
      paths: z
        .array(z.object({ path: Path, reason: z.enum(['rule', 'size', 'special', 'unreadable']) }))
        .max(maxLeftOutPaths),
      count: Count.max(2_000_000_000),
    }),
    bytes: Count.optional(),
    untouched: z.object({ from: Count, count: Count }).optional(),
  }),
  'history.page': z.object({
    gone: z.array(Path).max(historyPageEntries),
    came: z
      .array(
        z.object({
          path: Path,
          kind: z.enum(['file', 'folder', 'link']),
          mode: z.number().int().min(0).max(0o7777),
          owner: z.boolean(),
          size: Count,
          sparse: z.boolean(),
          from: Path.optional(),
          untouched: z.literal(true).optional(),
        }),
      )
      .max(historyPageEntries),
  }),
  'history.digest': z.object({
    digests: z
      .array(
        z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .nullable(),
      )
      .max(historyReadFiles),
  }),
  'history.read': z.object({
    parts: z
      .array(
        z.object({
          at: Count,
          // Base64 needs four characters for three bytes.
          data_base64: z.string().max(Math.ceil(historyReadBytes / 3) * 4),
          state: z.enum(['more', 'end', 'failed']),
        }),
      )
      .max(historyReadFiles),
  }),
  'history.commit': Ok,
  'history.close': Ok,
}
