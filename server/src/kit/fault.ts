import { type ErrorCode, sentenceOf } from '@roost/contracts/kit/errors'

/**
 * A named error that API callers may see. Domain code throws it by name; the response's status is looked up
 * later. `detail` is one sentence for people. `fields` are added to the body, `headers` to the response.
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

/** A field violates a rule of the feature: 422 `validation_error` in the format of schema errors. */
export function invalidField(path: (string | number)[], message: string, type = 'value_error'): Fault {
  return new Fault('validation_error', undefined, {
    issues: [{ loc: ['body', ...path], msg: message, type }],
  })
}

/** True for a fault whose code is one of `codes`, or for any fault without `codes`. */
export function isFault(error: unknown, ...codes: ErrorCode[]): error is Fault {
  return error instanceof Fault && (codes.length === 0 || codes.includes(error.code))
}
