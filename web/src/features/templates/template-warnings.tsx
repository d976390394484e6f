import type { TemplateWarning } from '@roost/contracts/agents/templates'
import { plural } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'

/** The ignored parts of a `template.yaml`, with a reason for each. */
export function TemplateWarnings({ warnings }: { warnings: readonly TemplateWarning[] }) {
  if (warnings.length === 0) return null
  return (
    <Banner tone="warning" title={`${plural(warnings.length, 'warning')} in template.yaml`}>
      <ul aria-label="Template warnings" className="list-disc pl-4">
        {warnings.map(({ path, message }) => (
          <li key={path} className="break-words">
            {message}
          </li>
        ))}
      </ul>
    </Banner>
  )
}
