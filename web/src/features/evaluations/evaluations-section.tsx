import type { AgentDetails } from '@roost/contracts/agents/agent'
import { createEvaluation, type Evaluation, EvaluationBody } from '@roost/contracts/operations/evaluations'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, NumberField, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { evaluationsQuery } from './queries.ts'

type EvaluationsProps = { agent: AgentDetails; isOwner: boolean }

/** Ratings of an agent by people. The owner and admins add them here. */
export function EvaluationsSection({ agent: { name }, isOwner }: EvaluationsProps) {
  const list = useQuery(evaluationsQuery(useApi(), name))
  return (
    <Section
      title="Evaluations"
      description="Ratings of the agent’s work by people. Agents and API keys can read evaluations but not add them."
    >
      {isOwner && <Judge name={name} />}
      {list.isError && !list.data ? (
        <ErrorState
          title="Could not load the evaluations"
          error={list.error}
          onRetry={() => void list.refetch()}
        />
      ) : list.isPending ? (
        <SkeletonText lines={3} />
      ) : list.data.length === 0 ? (
        <p className="text-muted text-sm">No evaluations yet.</p>
      ) : (
        <ul aria-label="Evaluations" className="divide-y divide-line rounded-lg border border-line">
          {list.data.map((evaluation) => (
            <Row key={evaluation.id} evaluation={evaluation} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Judge({ name }: { name: string }) {
  const { api, queries } = useApp()
  const form = useZodForm(EvaluationBody, { defaultValues: { verdict: null, notes: null } })
  async function judge(body: EvaluationBody): Promise<void> {
    await api.call(createEvaluation, { params: { name }, body })
    void queries.invalidateQueries({ queryKey: evaluationsQuery(api, name).queryKey })
    toast({ title: 'Evaluation saved.', tone: 'success' })
    form.reset()
  }
  return (
    <Form form={form} onSubmit={judge} label="New evaluation">
      <FormError />
      <div className="grid gap-4 sm:grid-cols-[8rem_minmax(0,1fr)]">
        <NumberField name="score" label="Score" hint="0 to 100" min={0} max={100} required />
        <TextField name="verdict" label="Verdict" hint="One or two words" maxLength={100} emptyAs="null" />
      </div>
      <TextareaField name="notes" label="Notes" rows={2} maxLength={4000} emptyAs="null" />
      <div>
        <Button type="submit" pending={form.formState.isSubmitting}>
          Add evaluation
        </Button>
      </div>
    </Form>
  )
}

function Row({ evaluation }: { evaluation: Evaluation }) {
  const { agent_name: name, score, verdict, notes, execution_id: id, created_by: by, created_at } = evaluation
  return (
    <li className="flex min-w-0 gap-3 px-3 py-2.5 text-sm">
      <span data-numeric className="w-9 shrink-0 text-right font-semibold">
        {score}
        <span className="sr-only"> of 100</span>
      </span>
      <div className="min-w-0 flex-1">
        {verdict && <p className="font-medium [overflow-wrap:anywhere]">{verdict}</p>}
        {notes && <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{notes}</p>}
        <p className="text-muted text-xs">
          {by}, <RelativeTime at={created_at} />
          {id && (
            <>
              {', run '}
              <Link
                to="/agents/$name/executions/$id"
                params={{ name, id }}
                className="text-accent hover:underline"
              >
                view
              </Link>
            </>
          )}
        </p>
      </div>
    </li>
  )
}
