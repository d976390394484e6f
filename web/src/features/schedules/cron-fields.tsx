import { isTimezone } from '@roost/contracts/kit/cron'
import { useController, useFormContext, useWatch } from 'react-hook-form'
import { Combobox } from '../../ui/combobox.tsx'
import { Field } from '../../ui/field.tsx'
import { TextField } from '../../ui/form.tsx'
import { cronError, cronWords, draftTimes } from './cron.ts'
import { DueTimes } from './due-times.tsx'
import { dueWords, ownZone, zoneNames, zoneWords } from './time-words.ts'
import { cronStarts } from './words.ts'

/** The cron expression and the time zone, with a preview of both. */
export function CronFields() {
  const { setValue } = useFormContext()
  const [expression, timezone] = useWatch({ name: ['cron_expression', 'timezone'] })
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="sr-only">Time</legend>
      <ul aria-label="Presets" className="flex flex-wrap gap-1.5">
        {cronStarts.map((start) => (
          <li key={start.expression}>
            <button
              type="button"
              aria-pressed={start.expression === expression}
              onClick={() =>
                setValue('cron_expression', start.expression, { shouldDirty: true, shouldValidate: true })
              }
              className="h-6 rounded-full border border-line px-2.5 text-muted text-xs hover:bg-hover hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-ink"
            >
              {start.label}
            </button>
          </li>
        ))}
      </ul>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          name="cron_expression"
          label="Cron expression"
          hint="Minute, hour, day of month, month, day of week"
          mono
          required
          spellCheck={false}
          autoComplete="off"
        />
        <ZoneField />
      </div>
      <Preview expression={expression ?? ''} timezone={timezone ?? 'UTC'} />
    </fieldset>
  )
}

function ZoneField() {
  const { field, fieldState } = useController({ name: 'timezone' })
  return (
    <Field
      label="Time zone"
      required
      error={fieldState.error?.message ?? null}
      hint={`Your time zone is ${zoneWords(ownZone())}`}
    >
      <Combobox
        value={field.value}
        onValueChange={(zone) => field.onChange(zone ?? 'UTC')}
        options={zoneNames().map((zone) => ({ value: zone, label: zoneWords(zone) }))}
        searchPlaceholder="Search time zones"
        typed={(text) => (isTimezone(text.trim()) ? text.trim() : null)}
      />
    </Field>
  )
}

function Preview({ expression, timezone }: { expression: string; timezone: string }) {
  const words = cronWords(expression)
  const now = new Date()
  const times = draftTimes({ expression, timezone }, now, 5)
  return (
    <div aria-live="polite" className="rounded-md border border-line bg-sunken px-3 py-2.5">
      <p className="font-medium text-sm">{words ?? cronError(expression)}</p>
      {words !== null && times.length === 0 && (
        <p className="mt-1 text-muted text-xs">The time zone is unknown.</p>
      )}
      {times.length > 0 && (
        <>
          <p className="mt-1 mb-1.5 text-muted text-xs">
            Next due times in your time zone. It is now {dueWords(now.getTime(), { timeZone: timezone })} in{' '}
            {zoneWords(timezone)}.
          </p>
          <DueTimes times={times} zone={timezone} />
        </>
      )}
    </div>
  )
}
