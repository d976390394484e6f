import type { CredentialRequirement } from '@roost/contracts/agents/credentials'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useFieldArray, useWatch } from 'react-hook-form'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { egressQuery } from '../egress/queries.ts'
import { useInjectFiles } from './actions.ts'
import { envText, lostNames, variablePattern } from './env-file.ts'
import { credentialsStatusQuery } from './queries.ts'

type FillInProps = {
  name: string
  /** What the checklist asks for; null keeps the dialog closed. */
  requirements: readonly CredentialRequirement[] | null
  onClose: () => void
}

/** Writes the agent's `.env` anew. The one that is there is never shown, so it is replaced as a whole. */
export function FillInDialog({ name, requirements, onClose }: FillInProps) {
  return (
    <Dialog
      open={requirements !== null}
      onOpenChange={onClose}
      size="lg"
      title={`Variables of ${name}`}
      description="They become its .env, in place of the one that it has. Nobody is shown a value again."
    >
      {requirements !== null && <FillIn name={name} requirements={requirements} onClose={onClose} />}
    </Dialog>
  )
}

type Known = { name: string; requirements: readonly CredentialRequirement[]; onClose: () => void }

function FillIn({ name, requirements, onClose }: Known) {
  const api = useApi()
  const status = useQuery(credentialsStatusQuery(api, name))
  const egress = useQuery(egressQuery(api, name))
  // Without it nobody could say what the new file takes away.
  if (!status.data) {
    if (!status.error) return <Skeleton className="h-40" />
    return <ErrorState error={status.error} onRetry={() => void status.refetch()} />
  }
  // A new file gets the placeholders of those again.
  const kept = new Set(egress.data?.credentials.flatMap((each) => (each.has_value ? [each.name] : [])))
  const present = status.data.variables.filter((variable) => !kept.has(variable))
  return <FillInForm {...{ name, requirements, onClose, present, kept }} />
}

const Variable = z.object({
  name: z.string().regex(variablePattern, 'must be letters, digits and underscores, no digit first'),
  value: z.string(),
})
const Variables = z.object({ wanted: z.array(Variable), more: z.array(Variable) })

type FillInFormProps = Known & {
  /** With a value that would be lost. */
  present: readonly string[]
  /** With a value that the platform keeps. */
  kept: ReadonlySet<string>
}

function FillInForm({ name, requirements, onClose, present, kept }: FillInFormProps) {
  const inject = useInjectFiles(name)
  const asked = requirements.filter(({ source }) => source !== 'config_files')
  const form = useZodForm(Variables, {
    defaultValues: {
      wanted: asked.map((each) => ({ name: each.name, value: each.default ?? '' })),
      more: present
        .filter((known) => !asked.some((each) => each.name === known))
        .map((known) => ({ name: known, value: '' })),
    },
  })
  const more = useFieldArray({ control: form.control, name: 'more' })
  return (
    <Form
      form={form}
      label="Variables"
      onSubmit={async ({ wanted, more }) => {
        const given = [...wanted, ...more].filter(({ value }) => value !== '')
        await inject({ files: { '.env': envText(given) } })
        onClose()
      }}
    >
      {asked.map((each, index) => (
        <TextField
          key={each.name}
          name={`wanted.${index}.value`}
          label={each.title}
          hint={
            each.title === each.name
              ? each.description
              : [each.name, each.description].filter(Boolean).join(' · ')
          }
          required={each.required === true}
          type={each.secret ? 'password' : 'text'}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholderOf(each.name, present, kept)}
        />
      ))}
      {more.fields.map(({ id }, index) => (
        <div key={id} className="flex items-start gap-2">
          <TextField
            name={`more.${index}.name`}
            label="Name"
            mono
            className="flex-1"
            autoComplete="off"
            spellCheck={false}
          />
          <TextField
            name={`more.${index}.value`}
            label="Value"
            type="password"
            className="flex-1"
            autoComplete="off"
          />
          <IconButton
            label={`Remove variable ${index + 1}`}
            icon={<X aria-hidden />}
            className="mt-6.5"
            onClick={() => more.remove(index)}
          />
        </div>
      ))}
      <div>
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus aria-hidden />}
          className="-ml-2"
          onClick={() => more.append({ name: '', value: '' })}
        >
          Another variable
        </Button>
      </div>
      <Lost control={form.control} present={present} />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Write .env
        </Button>
      </DialogButtons>
    </Form>
  )
}

function placeholderOf(name: string, present: readonly string[], kept: ReadonlySet<string>) {
  if (kept.has(name)) return 'kept by the platform'
  return present.includes(name) ? 'has a value: give it again to keep it' : undefined
}

type LostProps = {
  control: ReturnType<typeof useZodForm<z.input<typeof Variables>, z.output<typeof Variables>>>['control']
  present: readonly string[]
}

/** Names what the agent has now and would lose. */
function Lost({ control, present }: LostProps) {
  const { wanted, more } = useWatch({ control })
  const written = [...(wanted ?? []), ...(more ?? [])].flatMap(({ name, value }) =>
    name && value ? [name] : [],
  )
  const lost = lostNames(present, new Set(written))
  if (lost.length === 0) return null
  return (
    <Banner tone="warning" title="These have a value now and would lose it">
      <span className="break-words">{lost.join(', ')}</span>. Give their values again to keep them.
    </Banner>
  )
}
