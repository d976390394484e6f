import type { ComponentType } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'

export type LibraryTab = {
  /** In the address, as `?tab=`. */
  id: string
  label: string
  Content: ComponentType
}

/** The parts of the page in their order; the first one is shown when the address names none. */
export const libraryTabs: readonly LibraryTab[] = [
  {
    id: 'templates',
    label: 'Templates',
    Content: lazyPart(async () => (await import('../features/templates/gallery.tsx')).TemplateGallery),
  },
  {
    id: 'skills',
    label: 'Skills',
    Content: lazyPart(async () => (await import('../features/skills/skills-library.tsx')).SkillsLibrary),
  },
]
