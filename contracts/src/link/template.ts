/**
 * Delivery of the agent's template at its first start, as a GNU tar archive in chunks of at most `fileChunkBytes`. The
 * agent program asks for them, because only it knows whether its workspace has the template already.
 */

/** Limit of the whole archive: 100 MiB of files, and the headers of 5,000 of them. */
export const maxTemplateArchiveBytes = 128 * 1024 * 1024

/** `version` is that of the chunks received so far, null before the first one. */
export type TemplateRead = { t: 'template'; version: string | null; offset: number }
/**
 * With another `version` than the requested one, the chunk is the first of a changed template: `offset` does not
 * apply. Null: the agent has no template. `size` counts the bytes of the archive.
 */
export type TemplateReadAnswer = { version: string | null; size: number; data_base64: string }
