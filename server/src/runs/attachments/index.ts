/**
 * Attachments: the one rule for files that come with a message, whatever takes it.
 *
 * Promises that a file which passes is what its type says, within the bounds, under a name that is safe to
 * write. Refuses to know what the files are for.
 */
export { type CheckedFile, checkFiles, cleanName } from './rules.ts'
