import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { templateEnvQuery } from './queries.ts'

/** A `.env` skeleton, loaded on request. */
export function EnvSkeleton({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  const env = useQuery({ ...templateEnvQuery(useApi(), id), enabled: isOpen })
  if (!isOpen) {
    return (
      <div>
        <Button size="sm" onClick={() => setOpen(true)}>
          Show .env skeleton
        </Button>
      </div>
    )
  }
  if (env.data !== undefined) return <CodeBlock code={env.data} title=".env" language="bash" />
  if (!env.error) return <Skeleton className="h-24" />
  return <ErrorState error={env.error} onRetry={() => void env.refetch()} />
}
