import { Banner } from '../../ui/banner.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Switch } from '../../ui/switch.tsx'
import { type GitSwitch, useGitSwitch } from './actions.ts'
import type { GitConfig } from './repository-section.tsx'

const switches: { which: GitSwitch; label: string; hint: string; pushes?: true }[] = [
  {
    which: 'auto_sync_enabled',
    label: 'Push every 15 minutes',
    hint: 'What has changed is committed and pushed. A conflict is a failure and waits for a person.',
    pushes: true,
  },
  {
    which: 'pull_sync_enabled',
    label: 'Pull what is new',
    hint: 'What the remote has comes into the workspace, as long as nothing is changed there.',
  },
  {
    which: 'freeze_schedules_if_sync_failing',
    label: 'Freeze schedules while syncs fail',
    hint: 'After three failures in a row the clock fires none of its schedules, until a sync succeeds.',
  },
]

type SwitchesProps = { name: string; config: GitConfig; isOwner: boolean }

/** What is done without anybody asking. */
export function SwitchesSection({ name, config, isOwner }: SwitchesProps) {
  const { mutate } = useGitSwitch(name)
  return (
    <Section title="By itself" description="What happens without anybody asking.">
      {config.source_mode && (
        <Banner tone="info" title="Source mode">
          No token may write to its repository: the agent works on {config.source_branch} and pushes nothing.
        </Banner>
      )}
      {switches.map(({ which, label, hint, pushes }) => (
        <Field key={which} label={label} hint={hint} layout="row">
          <Switch
            checked={config[which]}
            disabled={!isOwner || (pushes === true && config.source_mode)}
            onCheckedChange={(enabled) => mutate({ which, enabled })}
          />
        </Field>
      ))}
    </Section>
  )
}
