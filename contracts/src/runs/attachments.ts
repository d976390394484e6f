import { z } from 'zod'

/** Files attached to a message: one rule for chat, tasks and all other requests. */
export const maxFiles = 3
/** Decoded bytes of one file, and of all images together. */
export const maxFileBytes = 5 * 1024 * 1024
export const maxImageBytes = 10 * 1024 * 1024
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export const acceptedTypes = [
  ...imageTypes,
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/json',
  'application/zip',
] as const
export type AcceptedType = (typeof acceptedTypes)[number]

/** The server checks number, size, type and content, so that its error names the file. */
export const FileAttachment = z
  .object({
    name: z.string(),
    mimetype: z.string(),
    size: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Bytes according to the sender; the received size counts.'),
    data_base64: z.string().describe('Base64, or a `data:` URI.'),
  })
  .meta({ id: 'FileAttachment' })
export type FileAttachment = z.output<typeof FileAttachment>

/** The field in request bodies; default: no files. */
export const FileAttachments = z
  .array(FileAttachment)
  .max(1000)
  .nullish()
  .transform((files) => files ?? [])
