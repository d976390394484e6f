/** Modules that `web/build/guides.ts` makes from `docs/`. */
declare module 'virtual:guides' {
  /** The groups of the start page; empty without `docs/`. */
  export const navigation: import('./guide-text.ts').GuideGroup[]
  /** The title of each page. */
  export const titles: Readonly<Record<string, string>>
}

declare module 'virtual:guides/guide-index' {
  /** The search index as JSON. */
  const index: string
  export default index
}
