import { useQuery } from '@tanstack/react-query'
import { Archive, ArchiveRestore } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useBundle } from './actions.ts'
import { credentialsStatusQuery } from './queries.ts'

/** The encrypted copy of the credential files in the workspace. */
export function BundleSection({ name }: { name: string }) {
  const { data, isError } = useQuery(credentialsStatusQuery(useApi(), name))
  const [isAsking, setAsking] = useState(false)
  const bundle = useBundle(name)
  const file = data?.files['.credentials.enc']
  const under = bundle.isPending ? bundle.variables : null
  return (
    <Section
      title="Credential bundle"
      description="An encrypted copy of all credential files in the workspace (.credentials.enc). Only a platform with the same encryption key can import it."
    >
      <p className="text-sm">
        {file?.exists ? (
          <>
            Exported <RelativeTime at={file.modified} />.{' '}
            <span className="text-muted">
              If the agent starts without a .env file, the bundle is imported automatically.
            </span>
          </>
        ) : (
          <span className="text-muted">
            {isError && !file ? 'Could not check for a bundle.' : 'No bundle in the workspace yet.'}
          </span>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button
          icon={<Archive aria-hidden />}
          pending={under === 'export'}
          onClick={() => bundle.mutate('export')}
        >
          Export
        </Button>
        <Button
          icon={<ArchiveRestore aria-hidden />}
          pending={under === 'import'}
          onClick={() => setAsking(true)}
        >
          Import…
        </Button>
      </div>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Import the bundle?"
        description="Files with the same names in the workspace are overwritten. This cannot be undone."
        action="Import bundle"
        tone="primary"
        pending={bundle.isPending}
        onConfirm={() => bundle.mutate('import', { onSettled: () => setAsking(false) })}
      />
    </Section>
  )
}
