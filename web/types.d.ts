// What travels between the parts of the page; names and values are those of Python (review/log, review/files, review/session).

export type Rating = 'reject' | 'gist' | 'acceptable' | 'excellent';
export type TextField = 'comment' | 'suggestion' | 'translation';
export type Phase = 'consent' | 'training' | 'items' | 'rest' | 'skipped' | 'end' | 'withdrawn';
export type Scope = 'comments' | 'batch' | 'everything';
export type Relation = 'made' | 'knows' | 'neither';
export type DecisionKind = 'rate' | 'cannot_judge' | 'translate' | 'skip';

/** Of review/log/payloads.py; which fields there are, its kind tells. */
export interface Payload {
  kind: DecisionKind | 'consent' | 'relation' | 'session' | 'train' | 'undo' | 'reasons' | 'comment' | 'suggest' | 'harm' | 'withdraw' | 'export';
  wall: string;
  [field: string]: any;
}

export interface Event {
  device: string; seq: number; lamport: number; prev: string; kind: string; commit: string; id: string;
  payload: Payload | null; salt: string | null;
}

export interface SentenceContext { context: string; formality: string; before: string; after: string }
export interface OthersWords { reasons: string[]; comment: string; suggestion: string }

export interface BatchItem {
  id: string; source: string; candidate: string; around?: SentenceContext | null; others?: OthersWords[];
}
export interface TrainingItem extends BatchItem { rating: Rating; explanation: string; explanations?: Record<string, string> }

export interface BatchManifest {
  format: string; batch: string; review: string; title: string; source_language: string; target_language: string;
  organisation: { name: string; signing_key: string; recipients: string[] }; policy_sha256: string; consent: string;
  guide: string; labels: string[]; language: string;
  translations?: Record<string, { consent: string; guide: string }>; task: 'rate' | 'translate'; letters: string[];
  secret: boolean; orders: Record<string, string[]>; shows_words?: boolean; second_of?: string | null;
  members: Record<string, string>;
}

export interface Batch {
  manifest: BatchManifest; sha256: string; salt: Uint8Array; items: BatchItem[];
  training: TrainingItem[]; fonts: { font: Uint8Array; licence: string }[];
}

export interface Draft { item: string; field: TextField; text: string | null }
export type DraftChange = [batch: string, reviewer: string, item: string, field: string, text: string | null];

/** What an act changes in the store: all of it, or nothing. The first of a store names its device and keys. */
export interface Change {
  device?: string; identity?: { seed: string; age: string };
  events?: { head: Record<string, unknown>; payload: Payload | null; salt: string | null }[];
  drafts?: DraftChange[];
  saved_with?: [text: string, answer: string][]; settings?: Record<string, string | null>;
}

export interface ShownItem {
  id: string; source: string; candidate: string; number: number; of: number; rating: Rating | null; stands: boolean;
  could_not: boolean; reasons: string[]; comment: string; suggestion: string; harmful: boolean; translation: string;
  around: SentenceContext | null; others: OthersWords[]; drafts: TextField[];
}
export interface Lesson { given: Rating; expected: Rating; explanation: string; note: string }
export interface Unsaved { item: string; number: number; fields: TextField[] }

export interface View {
  phase: Phase; done: number; total: number; minutes: number; item: ShownItem | null;
  lesson: Lesson | null; last: { item: ShownItem; rating: Rating | null } | null; skipped: number; unsaved: Unsaved[];
  can_undo: boolean; handed_over: string; shares: boolean; said: string; too_soon: boolean; trouble: string;
  detail: string;
}

export interface CoursePlace { phase: Phase; item: string | null; number: number; of: number }

export interface Catalogue {
  language: string; direction: 'ltr' | 'rtl'; name: string; plurals: string;
  messages: Record<string, string | string[]>; names: Record<string, string>; languages: Record<string, string>;
  texts: string;
}
