import { type ErrorCode, sentenceOf } from '@roost/contracts/kit/errors'

/**
 * A named failure that a caller of the API may see. Domain code throws it with the error's name; the
 * status is looked up when it is answered. `detail` is one sentence for a human, `fields` stand beside it
 * at top level of the body, `headers` beside that where a protocol asks for some.
 */
export class Fault extends Error {
  readonly code: ErrorCode
  readonly fields: Record<string, unknown>
  readonly headers: Record<string, string>
  constructor(
    code: ErrorCode,
    detail?: string,
    fields: Record<string, unknown> = {},
    options?: ErrorOptions & { headers?: Record<string, string> },
  ) {
    super(detail ?? sentenceOf(code), options)
    this.name = 'Fault'
    this.code = code
    this.fields = fields
    this.headers = options?.headers ?? {}
  }
}

/** One field of the request broke a rule of the feature: 422 `validation_error` in the schema failure's shape. */
export function invalidField(path: (string | number)[], message: string, type = 'value_error'): Fault {
  return new Fault('validation_error', undefined, {
    issues: [{ loc: ['body', ...path], msg: message, type }],
  })
}

/** A fault whose code is one of `codes`. */
export function isFault(error: unknown, ...codes: ErrorCode[]): error is Fault {
  return error instanceof Fault && (codes.length === 0 || codes.includes(error.code))
}
