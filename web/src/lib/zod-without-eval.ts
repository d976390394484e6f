/**
 * To be imported before anything that makes a schema, so the first line of an entry. Zod tries out `Function` while
 * the first object schema is made, which the Content-Security-Policy of the pages refuses and reports; told not to
 * before, it never tries.
 */
import { config } from 'zod/v4/core'

config({ jitless: true })
