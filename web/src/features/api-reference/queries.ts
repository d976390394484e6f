import { queryOptions } from '@tanstack/react-query'
import { type ApiDocument, operationsOf } from './api-document.ts'

/** The document of the running platform, which needs no sign-in. */
export const documentQuery = queryOptions({
  queryKey: ['api-document'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/openapi.json', { signal })
    if (!response.ok) throw new Error(`GET /openapi.json: HTTP ${response.status}`)
    const document = (await response.json()) as ApiDocument
    return { document, operations: operationsOf(document) }
  },
  staleTime: Number.POSITIVE_INFINITY,
})
