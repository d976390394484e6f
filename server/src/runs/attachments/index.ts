/**
 * Attachments: the rules for files that come with a message, for every feature that accepts files. An
 * accepted file matches its type, is within the size limits, and has a name that is safe to write.
 */
export { cleanName } from './rules.ts'
export { type CheckedFile, checkFiles } from './service.ts'
