import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { InvalidTraces } from "./otlp-error.ts";

/**
 * Reads protobuf messages field by field. Generated code would make an object of each value of each attribute,
 * only to be converted to another one here, and would silently drop malformed data. This reader is stricter than
 * the format requires: a known field of another wire type, and a value that extends beyond its message, mean
 * that the bytes are something else. Throws InvalidTraces, and the errors of BinaryReader for bytes that are not
 * protobuf.
 */
export class ProtobufReader {
  readonly #reader: BinaryReader;
  #end: number;
  #message = "";
  #field = 0;
  #wireType: WireType = WireType.Varint;

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes);
    this.#end = bytes.length;
  }

  /** Yields the numbers of the fields up to the end of the bytes; each field must be read or skipped at once. */
  *fields(message: string): Generator<number, void> {
    const end = this.#end;
    while (this.#reader.pos < end) {
      const [field, wireType] = this.#reader.tag();
      this.#message = message;
      this.#field = field;
      this.#wireType = wireType;
      yield field;
      if (this.#reader.pos > end) throw new InvalidTraces(`${message} ends within field ${field}`);
    }
  }

  /** Like `fields`, for a message that is the value of a field. */
  *message(message: string): Generator<number, void> {
    this.#expect(WireType.LengthDelimited);
    const end = this.#reader.uint32() + this.#reader.pos;
    const outerEnd = this.#end;
    if (end > outerEnd) throw new InvalidTraces(`${message} is cut off`);
    this.#end = end;
    yield* this.fields(message);
    this.#end = outerEnd;
  }

  bytes(): Uint8Array {
    this.#expect(WireType.LengthDelimited);
    return this.#reader.bytes();
  }

  /** Replaces invalid UTF-8 by U+FFFD: it is no reason to lose a batch of spans. */
  text(): string {
    this.#expect(WireType.LengthDelimited);
    return this.#reader.string();
  }

  bool(): boolean {
    this.#expect(WireType.Varint);
    return this.#reader.bool();
  }

  uint32(): number {
    this.#expect(WireType.Varint);
    return this.#reader.uint32();
  }

  int64(): bigint {
    this.#expect(WireType.Varint);
    return BigInt(this.#reader.int64());
  }

  double(): number {
    this.#expect(WireType.Bit64);
    return this.#reader.double();
  }

  fixed64(): bigint {
    this.#expect(WireType.Bit64);
    return BigInt(this.#reader.fixed64());
  }

  skip(): void {
    this.#reader.skip(this.#wireType, this.#field);
  }

  #expect(wireType: WireType): void {
    if (this.#wireType === wireType) return;
    throw new InvalidTraces(
      `${this.#message} has field ${this.#field} with wire type ${this.#wireType}, not ${wireType}`,
    );
  }
}
