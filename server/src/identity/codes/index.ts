/**
 * Six-digit codes that go out by mail. Promises that a code works once, for ten minutes and until five wrong
 * ones were tried, and that the database tells nobody a code. Refuses to know who may have one and what it opens:
 * `purpose` keeps the codes of one door from opening another.
 */
export { createEmailCodes, type EmailCodes } from './service.ts'
