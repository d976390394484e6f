/**
 * To be imported before anything that makes a schema, so the first line of an entry. Zod tries out `Function` while
 * the first object schema is made, which the Content-Security-Policy of the pages refuses and reports; told not to
 * before, it never tries. Told where its `config()` writes, for the first page makes no schema and needs no zod.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
