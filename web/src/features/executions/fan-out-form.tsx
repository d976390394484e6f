import type { AgentDetails } from '@roost/contracts/agents/agent'
import { ApiError } from '@roost/contracts/client'
import { defaultConcurrency, FanOutBody, maxConcurrency, maxTasks } from '@roost/contracts/runs/fan-out'
import { Plus, SendHorizontal, X } from 'lucide-react'
import { type ClipboardEvent, type FormEvent, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { newKey } from '../../lib/new-key.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { NumberInput, Textarea } from '../../ui/input.tsx'
import { useStartFanOut } from './actions.ts'
import { errorsOf, faultsOf, type TaskErrors, TaskFault } from './task-errors.tsx'
import { bodyOptions, noOptions, TaskOptionFields, type TaskOptions } from './task-options.tsx'
import { useSendKey } from './use-send-key.ts'

type Draft = { key: string; message: string }

export type FanOutFormProps = { agent: AgentDetails; isBlocked: boolean; onStarted: (id: string) => void }

/** Several parallel tasks, one field each. */
export function FanOutForm({ agent, isBlocked, onStarted }: FanOutFormProps) {
  const [tasks, setTasks] = useState<readonly Draft[]>(() => [draft(), draft()])
  const [concurrency, setConcurrency] = useState<number | null>(defaultConcurrency)
  const [options, setOptions] = useState<TaskOptions>(noOptions)
  const [errors, setErrors] = useState<TaskErrors>({})
  const start = useStartFanOut(agent.name)
  const sending = useSendKey()
  const filledTasks = tasks.filter(({ message }) => message.trim() !== '')
  const isReady = !isBlocked && filledTasks.length > 0 && !start.isPending

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isReady) return
    const body = {
      tasks: filledTasks.map(({ message }) => ({ message })),
      max_concurrency: concurrency,
      ...bodyOptions(options),
    }
    const found = errorsOf(FanOutBody, body)
    setErrors(found)
    if (Object.keys(found).length > 0) return
    start.mutate(
      { ...body, key: sending.keyFor(body) },
      {
        onSuccess: ({ fan_out_id }) => {
          sending.answered()
          setTasks([draft(), draft()])
          onStarted(fan_out_id)
        },
        onError: (error) => {
          if (error instanceof ApiError) sending.answered()
          setErrors(faultsOf(error))
        },
      },
    )
  }
  const write = (changed: string, message: string) =>
    setTasks(tasks.map((task) => (task.key === changed ? { ...task, message } : task)))
  /** Lines pasted into an empty task become separate tasks. */
  const spread = (event: ClipboardEvent, place: number) => {
    const lines = event.clipboardData
      .getData('text')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    if (lines.length < 2 || tasks[place]?.message !== '') return
    event.preventDefault()
    const added = lines.map(draft)
    setTasks([...tasks.slice(0, place), ...added, ...tasks.slice(place + 1)].slice(0, maxTasks))
  }
  return (
    <form aria-label="Parallel tasks" noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <ol className="flex flex-col gap-2">
        {tasks.map((task, index) => (
          <li key={task.key} className="flex items-start gap-2">
            <span data-numeric className="w-6 pt-1.5 text-right text-muted text-sm">
              {index + 1}
            </span>
            <Textarea
              rows={1}
              aria-label={`Task ${index + 1}`}
              placeholder={
                index === 0
                  ? 'Describe a task. Paste several lines to create several tasks.'
                  : 'Describe another task'
              }
              value={task.message}
              onChange={(event) => write(task.key, event.target.value)}
              onPaste={(event) => spread(event, index)}
              className="min-w-0 flex-1"
            />
            <IconButton
              label={`Remove task ${index + 1}`}
              icon={<X aria-hidden />}
              disabled={tasks.length === 1}
              onClick={() => setTasks(tasks.filter(({ key: other }) => other !== task.key))}
            />
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-2 pl-8">
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          disabled={tasks.length >= maxTasks}
          onClick={() => setTasks([...tasks, draft()])}
        >
          Add task
        </Button>
        <span className="text-muted text-xs">
          {tasks.length >= maxTasks
            ? `A fan-out can have at most ${maxTasks} tasks.`
            : 'A failed task does not stop the others.'}
        </span>
      </div>
      <TaskOptionFields agent={agent} options={options} errors={errors} onChange={setOptions}>
        <Field label="Maximum parallel tasks" error={errors.max_concurrency ?? null}>
          <NumberInput
            min={1}
            max={maxConcurrency}
            value={concurrency}
            onValueChange={setConcurrency}
            unit="tasks"
          />
        </Field>
      </TaskOptionFields>
      <Button
        type="submit"
        variant="primary"
        icon={<SendHorizontal aria-hidden />}
        pending={start.isPending}
        disabled={!isReady && !start.isPending}
        className="self-end"
      >
        {filledTasks.length === 0 ? 'Send tasks' : `Send ${plural(filledTasks.length, 'task')}`}
      </Button>
      <TaskFault errors={errors} />
    </form>
  )
}

function draft(message = ''): Draft {
  return { key: newKey(), message }
}
