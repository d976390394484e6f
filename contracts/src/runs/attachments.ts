import { z } from 'zod'

/** Files that come with a message, whatever takes it: one rule for chat, tasks and the rest. */
export const maxFiles = 3
/** Decoded bytes of one file, and of all images together. */
export const maxFileBytes = 5 * 1024 * 1024
export const maxImageBytes = 10 * 1024 * 1024
export const acceptedTypes = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/json',
  'application/zip',
] as const
export type AcceptedType = (typeof acceptedTypes)[number]

/** The rules (number, size, type, content) are the server's, so that a refusal names the file. */
export const FileAttachment = z
  .object({
    name: z.string(),
    mimetype: z.string(),
    size: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Bytes, as the sender counts them; what arrives counts.'),
    data_base64: z.string().describe('Base64, or a `data:` URI.'),
  })
  .meta({ id: 'FileAttachment' })
export type FileAttachment = z.output<typeof FileAttachment>

/** As it stands in request bodies; absent is none. */
export const FileAttachments = z
  .array(FileAttachment)
  .max(1000)
  .nullish()
  .transform((files) => files ?? [])
