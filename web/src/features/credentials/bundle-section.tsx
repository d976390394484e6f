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

/** The sealed copy in the workspace. */
export function BundleSection({ name }: { name: string }) {
  const { data, isError } = useQuery(credentialsStatusQuery(useApi(), name))
  const [isAsking, setAsking] = useState(false)
  const bundle = useBundle(name)
  const file = data?.files['.credentials.enc']
  const under = bundle.isPending ? bundle.variables : null
  return (
    <Section
      title="Bundle"
      description="All credential files, sealed into .credentials.enc of the workspace. Only an installation with this platform’s encryption key opens it."
    >
      <p className="text-sm">
        {file?.exists ? (
          <>
            Sealed <RelativeTime at={file.modified} />.{' '}
            <span className="text-muted">
              A workspace that is started without a .env takes its files out of it by itself.
            </span>
          </>
        ) : (
          <span className="text-muted">
            {isError && !file ? 'Whether there is one is not known.' : 'There is none in the workspace yet.'}
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
        title="Take the files out of the bundle?"
        description="Files of the same names in the workspace are replaced. This cannot be undone."
        action="Import"
        tone="primary"
        pending={bundle.isPending}
        onConfirm={() => bundle.mutate('import', { onSettled: () => setAsking(false) })}
      />
    </Section>
  )
}
