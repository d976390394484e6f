import {
  type ErrorBody,
  type ErrorCode,
  errorCatalogue,
  errorHelpPath,
  type ValidationIssue,
} from '@roost/contracts/kit/errors'
import { issueWords, unionWords } from '@roost/contracts/kit/issue-words'
import { z } from 'zod'
import { Fault } from '../kit/fault.ts'
import { DatabaseDown, DatabaseFull } from '../ports/database/port.ts'
import { EphemeralDown } from '../ports/ephemeral/port.ts'

// For every schema of the process: templates, canvases and stored files are validated outside of requests.
z.config({ customError: issueWords })

/** An error response: status, headers and the error body of the API. */
export type Problem = {
  status: number
  headers: Record<string, string>
  body: ErrorBody & { request_id: string }
  unexpected: boolean
}

/**
 * Turns any thrown value into an error response with the request id. An unnamed error is a 500 without its
 * text, which only the log shows.
 */
export function problemOf(error: unknown, requestId: string): Problem {
  return faultProblem(faultOf(error), requestId)
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof EphemeralDown) return new Fault('ephemeral_unavailable')
  if (isCausedBy(error, DatabaseDown)) return new Fault('store_unavailable', undefined, retrySoon)
  if (isCausedBy(error, DatabaseFull)) return new Fault('store_full', undefined, retryLater)
  return new Fault(frameworkCode(error) ?? 'internal_error')
}

/** A restarted server is back within seconds. */
const retrySoon = { retry_after_seconds: 5 }
/** A person has to free disk space. */
const retryLater = { retry_after_seconds: 60 }

/** True for the error itself or an error with it as its cause. */
function isCausedBy(error: unknown, kind: typeof DatabaseDown | typeof DatabaseFull): boolean {
  return error instanceof kind || (error instanceof Error && error.cause instanceof kind)
}

/** Limits the size of the response for long lists of invalid items. */
const maxIssues = 50

/** Returns a 422 with the issues of a schema, without the rejected input. */
export function validationFault(part: 'body' | 'query' | 'path', error: z.ZodError): Fault {
  const issues: ValidationIssue[] = error.issues
    .slice(0, maxIssues)
    .flatMap((issue) => issuesOf(part, issue))
    .slice(0, maxIssues)
  return new Fault('validation_error', undefined, { issues })
}

function issuesOf(part: string, issue: z.core.$ZodIssue): ValidationIssue[] {
  const loc = [part, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, key],
      msg: 'is not a field of this request',
      type: 'extra_forbidden',
    }))
  }
  if (isMissing(issue)) return [{ loc, msg: 'is required', type: 'missing' }]
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return unionIssues(part, loc, issue)
  return [{ loc, msg: issue.message, type: issue.code }]
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.message === 'is required'
}

/** Returns the issues of the matching kind of a union, or the list of kinds. */
function unionIssues(
  part: string,
  loc: ValidationIssue['loc'],
  issue: z.core.$ZodIssueInvalidUnion,
): ValidationIssue[] {
  const kinds = issue.errors.flat().filter(({ path }) => path.length === 0)
  if (kinds.length > 0 && kinds.every(isMissing)) return [{ loc, msg: 'is required', type: 'missing' }]
  if (issue.message !== unionWords) return [{ loc, msg: issue.message, type: issue.code }]
  const matching = issue.errors.find((branch) => branch.every(({ path }) => path.length > 0))
  if (matching)
    return matching.flatMap((inner) => issuesOf(part, { ...inner, path: [...issue.path, ...inner.path] }))
  const names = kinds.map((kind) => (kind.code === 'invalid_type' ? kind.expected : kind.message))
  return [{ loc, msg: `must be one of: ${[...new Set(names)].join(', ')}`, type: issue.code }]
}

function faultProblem(fault: Fault, requestId: string): Problem {
  const [status] = errorCatalogue[fault.code]
  const headers: Record<string, string> = { ...fault.headers }
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  const wait = fault.fields.retry_after_seconds
  if (typeof wait === 'number') headers['retry-after'] = String(Math.max(1, Math.ceil(wait)))
  if (fault.code === 'git_conflict') {
    headers['x-conflict-type'] = String(fault.fields.conflict_type)
    headers['x-conflict-class'] = String(fault.fields.conflict_class)
  }
  if (fault.code === 'circuit_open') headers['x-circuit-open'] = 'true'
  if (typeof fault.fields.execution_id === 'string') headers['x-execution-id'] = fault.fields.execution_id
  const { issues, ...fields } = fault.fields
  const detail = Array.isArray(issues) ? (issues as ValidationIssue[]) : fault.message
  const docs_url = errorHelpPath(fault.code)
  const body = { detail, error: fault.code, ...fields, request_id: requestId, docs_url }
  return { status, headers, body, unexpected: status === 500 }
}

/** Maps the errors of the web framework before a handler runs. */
function frameworkCode(error: unknown): ErrorCode | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'body_too_large'
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return 'invalid_json'
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'unsupported_media_type'
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_ASYNC_CONSTRAINT') return 'not_found'
  // A path out of the folder of static files.
  if (code === 'FST_STATIC_FORBIDDEN_PATH') return 'not_found'
  // Longer than any name or id.
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return 'not_found'
  return null
}
