import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { SshAccess } from '@roost/contracts/agents/settings'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { SshForm } from './ssh-form.tsx'
import { SshGranted } from './ssh-granted.tsx'

/** Grants the owner SSH access for some hours. */
export function SshSection({ agent }: { agent: AgentDetails }) {
  const [isAsking, setAsking] = useState(false)
  const [granted, setGranted] = useState<SshAccess | null>(null)
  const obstacle = obstacleOf(agent)
  const close = () => setGranted(null)
  const title = `SSH access to ${agent.name}`
  const key = granted?.private_key
  return (
    <Section title="SSH access" description="Log in to the agent’s container with SSH.">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button icon={<KeyRound aria-hidden />} disabled={obstacle !== null} onClick={() => setAsking(true)}>
          Grant access
        </Button>
        <p className="min-w-0 flex-1 basis-48 text-sm text-muted">
          {obstacle ??
            'Grants a key login as the user “developer” for up to 24 hours. The key is removed automatically.'}
        </p>
      </div>
      <Dialog
        open={isAsking}
        onOpenChange={setAsking}
        title={title}
        description="The key logs in as the user “developer”, with the same permissions as the agent."
      >
        <SshForm
          agentName={agent.name}
          onCancel={() => setAsking(false)}
          onGranted={(access) => {
            setAsking(false)
            setGranted(access)
          }}
        />
      </Dialog>
      <SecretDialog
        title={title}
        secrets={key === undefined ? null : [{ label: 'Private key', value: key }]}
        onClose={close}
      >
        {granted && <SshGranted access={granted} />}
      </SecretDialog>
      <Dialog
        open={granted !== null && key === undefined}
        onOpenChange={close}
        title={title}
        footer={
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        }
      >
        {granted && <SshGranted access={granted} />}
      </Dialog>
    </Section>
  )
}

/** Why SSH access is not available; null when it is. */
function obstacleOf({ status, port }: AgentDetails): string | null {
  if (port === 0) return 'SSH access is not available: no port was free when the agent was created.'
  return status === 'running' ? null : 'Start the agent to grant access.'
}
