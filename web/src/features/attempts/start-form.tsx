import { type AgentDetails, type Runtime, runtimes } from '@roost/contracts/agents/agent'
import {
  AttemptsBody,
  type AttemptVariant,
  defaultMaxCostUsd,
  maxAttempts,
} from '@roost/contracts/runs/attempts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { newKey } from '../../lib/new-key.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field } from '../../ui/field.tsx'
import { Input, NumberInput, Textarea } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { ModelChoice } from '../chat/model-choice.tsx'
import { attemptKeys, beginAttempts } from './queries.ts'

type Draft<T> = { key: string; value: T }

const draft = <T,>(value: T): Draft<T> => ({ key: newKey(), value })
const runtimeOptions = runtimes.map((runtime) => ({ value: runtime, label: runtime }))

/** Starts attempts: messages × runtimes and models × repeats. */
export function StartAttempts({ agent }: { agent: AgentDetails }) {
  const api = useApi()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [messages, setMessages] = useState([draft('')])
  const [variants, setVariants] = useState<Draft<AttemptVariant>[]>([draft({})])
  const [repeats, setRepeats] = useState<number | null>(3)
  const [maxCost, setMaxCost] = useState<number | null>(defaultMaxCostUsd)
  const [command, setCommand] = useState('')
  const [isPicked, setPicked] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const start = useMutation({
    mutationFn: (body: Parameters<typeof beginAttempts>[2]) => beginAttempts(api, agent.name, body),
    onSuccess: (set) => {
      void queries.invalidateQueries({ queryKey: attemptKeys.ofAgent(agent.name) })
      void navigate({ to: '/agents/$name/attempts/$set', params: { name: agent.name, set: set.id } })
    },
    onError: (error) => setFault(describeFault(error).sentence),
  })
  const written = messages.filter(({ value }) => value.trim() !== '')
  const total = Math.max(1, written.length) * variants.length * (repeats ?? 1)
  const isReady = agent.status === 'running' && written.length > 0 && total <= maxAttempts && !start.isPending

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isReady) return
    const parsed = AttemptsBody.safeParse({
      messages: written.map(({ value }) => value),
      variants: variants.map(({ value }) => value),
      repeats: repeats ?? 1,
      max_cost_usd: maxCost ?? defaultMaxCostUsd,
      check: command.trim() === '' ? null : command,
      pick: isPicked && command.trim() !== '' ? 'best_check' : 'manual',
    })
    setFault(parsed.success ? null : (parsed.error.issues[0]?.message ?? 'The form is not valid.'))
    if (parsed.success) start.mutate(parsed.data)
  }
  const change = (key: string, value: AttemptVariant) =>
    setVariants(variants.map((each) => (each.key === key ? { key, value } : each)))

  return (
    <form
      aria-label="New attempts"
      noValidate
      onSubmit={submit}
      className="flex min-w-0 max-w-3xl flex-col gap-4"
    >
      {agent.status !== 'running' && (
        <Banner tone="warning">Start the agent first: its workspace is recorded for the attempts.</Banner>
      )}
      {messages.map(({ key, value }, index) => (
        <div key={key} className="flex items-end gap-2">
          <Field label={index === 0 ? 'Task' : `Wording ${index + 1}`} className="min-w-0 flex-1">
            <Textarea
              rows={3}
              value={value}
              onChange={(event) =>
                setMessages(
                  messages.map((each) => (each.key === key ? { key, value: event.target.value } : each)),
                )
              }
            />
          </Field>
          {messages.length > 1 && (
            <IconButton
              label={`Remove wording ${index + 1}`}
              icon={<X aria-hidden />}
              onClick={() => setMessages(messages.filter((each) => each.key !== key))}
            />
          )}
        </div>
      ))}
      <fieldset className="flex min-w-0 flex-col gap-2">
        <legend className="mb-1 font-medium text-sm">Runtimes and models</legend>
        {variants.map(({ key, value }, index) => {
          const runtime: Runtime = value.runtime ?? agent.runtime
          return (
            <div key={key} className="flex flex-wrap items-end gap-2">
              <Select
                label={`Runtime ${index + 1}`}
                value={runtime}
                options={runtimeOptions}
                onValueChange={(next) => change(key, { runtime: next })}
                className="w-40"
              />
              <Field label={`Model ${index + 1}`} className="min-w-40 flex-1">
                <ModelChoice
                  runtime={runtime}
                  agentModel={runtime === agent.runtime ? agent.runtime_model : null}
                  value={value.model ?? null}
                  onValueChange={(model) => change(key, { ...value, model })}
                  look="field"
                />
              </Field>
              {variants.length > 1 && (
                <IconButton
                  label={`Remove variant ${index + 1}`}
                  icon={<X aria-hidden />}
                  onClick={() => setVariants(variants.filter((each) => each.key !== key))}
                />
              )}
            </div>
          )
        })}
      </fieldset>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" icon={<Plus aria-hidden />} onClick={() => setMessages([...messages, draft('')])}>
          Add wording
        </Button>
        <Button size="sm" icon={<Plus aria-hidden />} onClick={() => setVariants([...variants, draft({})])}>
          Add variant
        </Button>
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Repeats" hint="Attempts per task and variant">
          <NumberInput min={1} max={maxAttempts} value={repeats} onValueChange={setRepeats} />
        </Field>
        <Field label="Cost cap" hint="For all attempts together">
          <NumberInput unit="USD" min={0.01} step="any" value={maxCost} onValueChange={setMaxCost} />
        </Field>
      </div>
      <Field
        label="Check command"
        hint="Runs in each attempt after its run; exit code 0 means passed. Optional."
      >
        <Input
          mono
          placeholder="npm test"
          value={command}
          onChange={(event) => setCommand(event.target.value)}
        />
      </Field>
      <Checkbox checked={isPicked} onCheckedChange={setPicked} disabled={command.trim() === ''}>
        Keep the cheapest attempt whose check passed
      </Checkbox>
      {fault !== null && (
        <Banner tone="danger" title="Not started">
          {fault}
        </Banner>
      )}
      <div className="flex flex-wrap items-center justify-end gap-3">
        <span role="status" className="text-muted text-sm">
          {total > maxAttempts
            ? `${total} attempts: at most ${maxAttempts} are possible.`
            : plural(total, 'attempt')}
        </span>
        <Button
          type="submit"
          variant="primary"
          pending={start.isPending}
          disabled={!isReady && !start.isPending}
        >
          Start attempts
        </Button>
      </div>
    </form>
  )
}
