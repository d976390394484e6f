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
import { droppedNames, envText, variablePattern } from './env-file.ts'
import { credentialsStatusQuery } from './queries.ts'

type FillInProps = {
  name: string
  /** The declared credentials; null keeps the dialog closed. */
  requirements: readonly CredentialRequirement[] | null
  onClose: () => void
}

/** Writes a new `.env`. The current one cannot be read, so it is replaced completely. */
export function FillInDialog({ name, requirements, onClose }: FillInProps) {
  return (
    <Dialog
      open={requirements !== null}
      onOpenChange={onClose}
      size="lg"
      title={`Variables of ${name}`}
      description="Replaces the .env file of the agent. Values are never shown again."
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
  // Needed to warn about variables that the new file would drop.
  if (!status.data) {
    if (!status.error) return <Skeleton className="h-40" />
    return <ErrorState error={status.error} onRetry={() => void status.refetch()} />
  }
  // Every new file gets the placeholders of bound credentials, so they are never dropped.
  const bound = new Set(egress.data?.credentials.flatMap((each) => (each.has_value ? [each.name] : [])))
  const present = status.data.variables.filter((variable) => !bound.has(variable))
  return <FillInForm {...{ name, requirements, onClose, present, bound }} />
}

const Variable = z.object({
  name: z
    .string()
    .regex(
      variablePattern,
      'The name may contain letters, digits and underscores, and must not start with a digit.',
    ),
  value: z.string(),
})
const Variables = z.object({ declaredValues: z.array(Variable), more: z.array(Variable) })

type FillInFormProps = Known & {
  /** Variables whose value the new file would drop. */
  present: readonly string[]
  /** Variables whose value the platform stores (bound credentials). */
  bound: ReadonlySet<string>
}

function FillInForm({ name, requirements, onClose, present, bound }: FillInFormProps) {
  const inject = useInjectFiles(name)
  const declared = requirements.filter(({ source }) => source !== 'config_files')
  const form = useZodForm(Variables, {
    defaultValues: {
      declaredValues: declared.map((each) => ({ name: each.name, value: each.default ?? '' })),
      more: present
        .filter((variable) => !declared.some((each) => each.name === variable))
        .map((variable) => ({ name: variable, value: '' })),
    },
  })
  const more = useFieldArray({ control: form.control, name: 'more' })
  return (
    <Form
      form={form}
      label="Variables"
      onSubmit={async ({ declaredValues, more }) => {
        const variables = [...declaredValues, ...more].filter(({ value }) => value !== '')
        await inject({ files: { '.env': envText(variables) } })
        onClose()
      }}
    >
      {declared.map((each, index) => (
        <TextField
          key={each.name}
          name={`declaredValues.${index}.value`}
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
          placeholder={placeholderOf(each.name, present, bound)}
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
          Add variable
        </Button>
      </div>
      <DroppedWarning control={form.control} present={present} />
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

function placeholderOf(name: string, present: readonly string[], bound: ReadonlySet<string>) {
  if (bound.has(name)) return 'stored by the platform'
  return present.includes(name) ? 'has a value; enter it again to keep it' : undefined
}

type DroppedWarningProps = {
  control: ReturnType<typeof useZodForm<z.input<typeof Variables>, z.output<typeof Variables>>>['control']
  present: readonly string[]
}

/** Warns about variables that the new file would drop. */
function DroppedWarning({ control, present }: DroppedWarningProps) {
  const { declaredValues, more } = useWatch({ control })
  const written = [...(declaredValues ?? []), ...(more ?? [])].flatMap(({ name, value }) =>
    name && value ? [name] : [],
  )
  const dropped = droppedNames(present, new Set(written))
  if (dropped.length === 0) return null
  return (
    <Banner tone="warning" title="These variables would lose their value">
      <span className="break-words">{dropped.join(', ')}</span>. Enter their values again to keep them.
    </Banner>
  )
}
