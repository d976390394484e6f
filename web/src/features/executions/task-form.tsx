import type { AgentDetails } from '@roost/contracts/agents/agent'
import { ApiError } from '@roost/contracts/client'
import { TaskBody } from '@roost/contracts/runs/tasks'
import { useNavigate } from '@tanstack/react-router'
import { SendHorizontal } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { Field } from '../../ui/field.tsx'
import { NumberInput, Textarea } from '../../ui/input.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { AttachFiles } from '../chat/attach-files.tsx'
import { AttachmentChips } from '../chat/attachment-chips.tsx'
import { useComposer } from '../chat/use-composer.ts'
import { type TaskInput, useSendTask } from './actions.ts'
import { errorsOf, faultsOf, type TaskErrors, TaskFault } from './task-errors.tsx'
import { bodyOptions, noOptions, TaskOptionFields, type TaskOptions } from './task-options.tsx'
import { useSendKey } from './use-send-key.ts'

export type TaskFormProps = {
  agent: AgentDetails
  isBlocked: boolean
  /** Fills in the form with the request of an earlier run. It has a draft of its own. */
  initial?: { runId: string; message: string; options: TaskOptions }
}

/** Sends one task and opens its run. */
export function TaskForm({ agent, isBlocked, initial }: TaskFormProps) {
  const navigate = useNavigate()
  const draftKey = initial ? `task:${agent.name}:${initial.runId}` : `task:${agent.name}`
  const composer = useComposer(draftKey, initial?.message)
  const [options, setOptions] = useState(initial?.options ?? noOptions)
  const [errors, setErrors] = useState<TaskErrors>({})
  const send = useSendTask(agent.name)
  const sending = useSendKey()
  const isReady = !isBlocked && composer.isSendable && !send.isPending

  const submit = () => {
    if (!isReady) return
    const files = composer.attachments.map(({ id: _, ...file }) => file)
    const body: TaskInput = { message: composer.text, files, ...bodyOptions(options) }
    const found = errorsOf(TaskBody, body)
    setErrors(found)
    if (Object.keys(found).length > 0) return
    send.mutate(
      { ...body, key: sending.keyFor(body) },
      {
        onSuccess: ({ execution_id }) => {
          sending.answered()
          composer.clear()
          void navigate({
            to: '/agents/$name/executions/$id',
            params: { name: agent.name, id: execution_id },
          })
        },
        onError: (error) => {
          if (error instanceof ApiError) sending.answered()
          setErrors(faultsOf(error))
        },
      },
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    submit()
  }
  return (
    <DropZone label="Drop files to attach them" onFiles={composer.attach}>
      <form
        aria-label="Single task"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          submit()
        }}
        className="flex min-w-0 flex-col gap-3"
      >
        <div className="rounded-lg border border-control bg-surface shadow-xs focus-within:border-focus">
          <AttachmentChips state={composer} />
          <textarea
            rows={3}
            aria-label="Message"
            placeholder={`What should ${agent.label ?? agent.name} do?`}
            value={composer.text}
            onChange={(event) => composer.setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const files = [...event.clipboardData.files]
              if (files.length === 0) return
              event.preventDefault()
              void composer.attach(files)
            }}
            className="block field-sizing-content max-h-[40dvh] min-h-20 w-full resize-none bg-transparent px-3 py-2.5 text-base outline-none"
          />
          <div className="flex items-center gap-2 px-2 pb-2">
            <AttachFiles size="sm" onChosen={(files) => void composer.attach(files)} />
            <span role="status" className="min-w-0 flex-1 text-danger text-xs">
              {composer.excess > 0 && `${composer.excess.toLocaleString('en')} characters over the limit`}
            </span>
            <span className="text-faint text-xs max-sm:hidden">
              <Kbd keys={['Ctrl', 'Enter']} />
            </span>
            <Button
              type="submit"
              variant="primary"
              icon={<SendHorizontal aria-hidden />}
              pending={send.isPending}
              disabled={!isReady && !send.isPending}
            >
              Send task
            </Button>
          </div>
        </div>
        <TaskOptionFields agent={agent} options={options} errors={errors} onChange={setOptions}>
          <Field label="Timeout" error={errors.timeout_seconds ?? null}>
            <NumberInput
              unit="seconds"
              min={10}
              max={7200}
              placeholder={String(agent.execution_timeout_seconds)}
              value={options.timeoutSeconds}
              onValueChange={(timeoutSeconds) => setOptions({ ...options, timeoutSeconds })}
            />
          </Field>
        </TaskOptionFields>
        {options.systemPrompt !== null && (
          <Field
            label="Additional system prompt"
            hint="Added to the agent’s own prompt"
            error={errors.system_prompt ?? null}
          >
            <Textarea
              rows={3}
              value={options.systemPrompt}
              onChange={(event) => setOptions({ ...options, systemPrompt: event.target.value })}
            />
          </Field>
        )}
        <TaskFault errors={errors} />
      </form>
    </DropZone>
  )
}
