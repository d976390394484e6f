import { Link } from '@tanstack/react-router'
import { Play, Square } from 'lucide-react'
import { useRef, useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, Textarea } from '../../ui/input.tsx'
import type { Operation } from './api-document.ts'
import { type CallRequest, requestOf, type Values } from './request.ts'

type TryOutProps = {
  operation: Operation
  values: Values
  onChange(values: Values): void
}

type Outcome =
  | {
      kind: 'reply'
      status: number
      statusText: string
      ms: number
      type: string
      text: string
      isOver: boolean
    }
  | { kind: 'failed'; message: string }

/** Characters of a reply that are displayed; streams may never end. */
const maxShown = 200_000

/** A form for the values of a call, which sends it with the session of this browser. */
export function TryOut({ operation, values, onChange }: TryOutProps) {
  const { session } = useApp()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const running = useRef<AbortController | null>(null)
  const [isRunning, setRunning] = useState(false)
  const isSignedIn = session.token() !== null
  const isRefused = operation.needsToken && !isSignedIn
  const isRead = operation.method === 'GET'

  async function send() {
    const abort = new AbortController()
    running.current = abort
    setRunning(true)
    setOutcome(null)
    try {
      const token = operation.needsToken ? session.token() : null
      await run(requestOf(operation, values), token, abort.signal, setOutcome)
    } catch (error) {
      if (!abort.signal.aborted)
        setOutcome({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
    } finally {
      setRunning(false)
    }
  }

  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {operation.parameters.filter(isShown).map((parameter) => (
        <Field
          key={`${parameter.in} ${parameter.name}`}
          label={`${parameter.name} (${parameter.in})`}
          required={parameter.required ?? false}
        >
          <Input
            mono
            required={parameter.required}
            value={values.parameters[parameter.name] ?? ''}
            onChange={({ target }) =>
              onChange({ ...values, parameters: { ...values.parameters, [parameter.name]: target.value } })
            }
          />
        </Field>
      ))}
      {operation.body && (
        <Field label={`Body (${operation.body.mediaType})`} required={operation.body.isRequired}>
          <Textarea
            mono
            rows={4}
            spellCheck={false}
            value={values.body}
            onChange={({ target }) => onChange({ ...values, body: target.value })}
          />
        </Field>
      )}
      {!isRead && (
        <p className="text-sm text-warning">The request is real: it changes data of this installation.</p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          type="submit"
          variant={operation.method === 'DELETE' ? 'danger' : 'primary'}
          icon={<Play aria-hidden />}
          pending={isRunning}
          disabled={isRefused}
        >
          Send request
        </Button>
        {isRunning && (
          <Button icon={<Square aria-hidden />} onClick={() => running.current?.abort()}>
            Stop
          </Button>
        )}
        <p className="text-muted text-sm">
          {isRefused ? (
            <>
              <Link
                to="/login"
                search={{ next: `/docs/${operation.id}` }}
                className="text-accent underline underline-offset-2"
              >
                Sign in
              </Link>{' '}
              to send this request.
            </>
          ) : operation.needsToken ? (
            'Uses your session.'
          ) : (
            'Needs no sign-in.'
          )}
        </p>
      </div>
      <div role="status" className="min-w-0">
        {outcome && <Result outcome={outcome} />}
      </div>
    </form>
  )
}

/** The platform assigns an id to every request, so nobody needs to fill it in. */
function isShown({ name }: { name: string }): boolean {
  return name !== 'X-Request-ID'
}

function Result({ outcome }: { outcome: Outcome }) {
  if (outcome.kind === 'failed')
    return <p className="text-danger text-sm">The request could not be sent: {outcome.message}</p>
  const { status, statusText, ms, type, text, isOver } = outcome
  const isLong = text.length > maxShown
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-2 text-muted text-sm">
        <Badge tone={status < 400 ? 'success' : 'danger'}>
          {status} {statusText}
        </Badge>
        <span className="tabular-nums">{Math.round(ms)} ms</span>
        {!isOver && <span>Receiving…</span>}
      </p>
      {text !== '' && (
        <CodeBlock
          title={type}
          language={type.includes('json') ? 'json' : ''}
          code={isLong ? `${text.slice(0, maxShown)}\n… (cut)` : text}
        />
      )}
    </div>
  )
}

async function run(
  { method, path, headers, body }: CallRequest,
  token: string | null,
  signal: AbortSignal,
  onProgress: (outcome: Outcome) => void,
): Promise<void> {
  const started = performance.now()
  const response = await fetch(path, {
    method,
    headers: { ...headers, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
    body,
    signal,
    cache: 'no-store',
  })
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const known = { kind: 'reply', status: response.status, statusText: response.statusText, type } as const
  const show = (text: string, isOver: boolean) =>
    onProgress({ ...known, ms: performance.now() - started, text, isOver })
  if (!isText(type)) {
    const { size } = await response.blob()
    show(size === 0 ? '' : `${size.toLocaleString('en')} bytes`, true)
    return
  }
  let text = ''
  show(text, false)
  const decoder = new TextDecoder()
  for await (const piece of piecesOf(response)) {
    text += decoder.decode(piece, { stream: true })
    show(text, false)
    if (text.length > maxShown) break
  }
  show(type === 'application/json' ? formatted(text) : text, true)
}

/** Safari cannot iterate a stream. */
async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /json|xml/.test(type)
}

function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
