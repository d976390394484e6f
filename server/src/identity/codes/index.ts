/**
 * Six-digit codes sent by mail. A code works once, for ten minutes and until five wrong tries. The database
 * stores only a keyed hash. Callers decide who gets a code; `purpose` separates their codes from one another.
 */
export { createEmailCodes, type EmailCodes } from './service.ts'
