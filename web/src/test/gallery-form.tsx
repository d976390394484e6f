import { ApiError } from '@roost/contracts/client'
import { useState } from 'react'
import { z } from 'zod'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { Combobox } from '../ui/combobox.tsx'
import { Field } from '../ui/field.tsx'
import {
  Form,
  FormError,
  NumberField,
  SelectField,
  SwitchField,
  TextareaField,
  TextField,
  useZodForm,
} from '../ui/form.tsx'
import { Input, PasswordInput, SearchInput } from '../ui/input.tsx'
import { Section } from '../ui/section.tsx'
import { TagInput } from '../ui/tag-input.tsx'

const Agent = z.object({
  name: z.string().min(3, 'must have at least three letters'),
  about: z.string().nullable(),
  runtime: z.enum(['claude', 'codex', 'gemini']),
  timeoutSeconds: z.number().int().positive(),
  autonomous: z.boolean(),
})

const runtimes = [
  { value: 'claude', label: 'Claude', hint: 'Tools, files and long turns' },
  { value: 'codex', label: 'Codex' },
  { value: 'gemini', label: 'Gemini', disabled: true },
]

export function FormPart() {
  return (
    <section aria-label="Forms">
      <Section
        title="Agent"
        description="The name and the runtime of the agent."
        actions={<Button>Reset</Button>}
      >
        <AgentForm />
      </Section>
      <Section title="Single controls">
        <SingleControls />
      </Section>
    </section>
  )
}

/**
 * A fake server of this form: refuses the names `taken` with a field error and `broken` with a general error.
 */
function AgentForm() {
  const [saved, setSaved] = useState('')
  const form = useZodForm(Agent, {
    defaultValues: { name: '', about: null, runtime: 'claude', timeoutSeconds: 600, autonomous: false },
  })
  const save = async (agent: z.output<typeof Agent>) => {
    if (agent.name === 'taken') {
      const detail = [
        { loc: ['body', 'name'], msg: 'is in use', type: 'conflict' },
        { loc: ['body', 'channels', 0], msg: 'is unknown', type: 'unknown' },
      ]
      throw new ApiError(422, { error: 'validation_error', detail })
    }
    if (agent.name === 'broken') {
      const body = { detail: 'Something went wrong on our side.', request_id: 'req-42' }
      throw new ApiError(500, { error: 'internal_error', ...body })
    }
    setSaved(JSON.stringify(agent))
  }
  return (
    <Form form={form} onSubmit={save} label="Agent">
      <TextField name="name" label="Name" hint="Letters, digits and dashes." required />
      <TextareaField name="about" label="About" emptyAs="null" placeholder="What is it for?" />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField name="runtime" label="Runtime" options={runtimes} />
        <NumberField name="timeoutSeconds" label="Timeout" unit="seconds" min={1} />
      </div>
      <SwitchField name="autonomous" label="Autonomous" hint="Fires its schedules." />
      <FormError />
      <div className="flex justify-end gap-2">
        <Button onClick={() => form.reset()}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Save
        </Button>
      </div>
      <output data-testid="saved" className="text-xs text-muted">
        {saved}
      </output>
    </Form>
  )
}

function SingleControls() {
  const [search, setSearch] = useState('night')
  const [tags, setTags] = useState(['logs', 'morning'])
  const [zone, setZone] = useState<string | null>(null)
  const [isChecked, setChecked] = useState(true)
  return (
    <>
      <SearchInput label="Search agents" value={search} onValueChange={setSearch} />
      <Field label="Tags" hint="Enter or comma adds one.">
        <TagInput value={tags} onValueChange={setTags} />
      </Field>
      <Field label="Time zone" error="The time zone is unknown.">
        <Combobox
          value={zone}
          onValueChange={setZone}
          options={Intl.supportedValuesOf('timeZone').map((value) => ({ value, label: value }))}
        />
      </Field>
      <Field label="Password">
        <PasswordInput defaultValue="secret-enough" autoComplete="off" />
      </Field>
      <Field label="Read only">
        <Input readOnly value="agent-7f3a" mono />
      </Field>
      <Field label="Switched off">
        <Input disabled value="cannot be changed" />
      </Field>
      <Checkbox checked={isChecked} onCheckedChange={setChecked} hint="Once a day, in the morning.">
        Send a summary
      </Checkbox>
      <Checkbox checked="indeterminate">Some of them</Checkbox>
    </>
  )
}
